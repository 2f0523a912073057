/** Splits a question into words, and finds its numbers, dates and comparisons. */
import { stem } from '../language/content-words.ts'
import { COUNTING_SUPERLATIVES, type Comparison, EXTREME_WORDS, isSuperlative, NUMBER_WORDS, STOP_WORDS } from './vocabulary.ts'
import { findComparison, readOrdinal } from './wording/comparisons.ts'
import type { DateMention, Span, Word } from './wording/mentions.ts'
import { findUnit, isAmount } from './wording/number-units.ts'
import { findDates, findSeasons, isYear } from './wording/question-dates.ts'

/** Of "2026-05". */
const MONTH_LENGTH = 7
/** Of "2026". */
const YEAR_LENGTH = 4
/** Of rows that a question may ask for. */
const MAX_LIMIT = 100

export type { DateMention, Span, Word }

export const covers = ({ start, end }: Span, index: number): boolean => start <= index && index < end

export interface NumberMention extends Span {
  value: number
  /** The upper bound of "between 3 and 5". */
  until?: number
  comparison: Comparison
  isWord: boolean
  /** "10th" in "the 10th week". */
  isOrdinal?: true
  unit?: string
}

export interface Question {
  text: string
  words: Word[]
  stems: ReadonlySet<string>
  numbers: NumberMention[]
  dates: DateMention[]
  /** The day of the question as an ISO date, where the question may be about anything. */
  today?: string
}

/** Ordinals, dates, numbers with thousands separators, numbers, words, and mixtures such as B12. */
const WORD = new RegExp(
  [
    String.raw`\d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}`,
    String.raw`\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`,
    String.raw`[\p{L}\p{M}]+|[\p{L}\p{N}\p{M}]+`,
  ].join('|'),
  'giu',
)

/** Returns the words of a question or a cell. */
export function splitWords(text: string): Word[] {
  const folded = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/n['’`´]t\b/gi, ' not')
    .replaceAll(/['’`´](?=s\b)/gi, ' ')
    .replaceAll(/['’`´]/g, '')
  const hasSmallLetters = /[a-z]/.test(folded)
  return Array.from(folded.matchAll(WORD), ({ 0: written, index }) => {
    const word = written.toLowerCase()
    const isDigits = /^\d/.test(word)
    const plain = isDigits ? removeSeparators(word) : word
    const unit = isDigits ? findUnit(folded, index, index + written.length) : undefined
    return {
      text: word,
      stem: isDigits ? plain : stem(word),
      isStop: STOP_WORDS.has(word) && !(hasSmallLetters && isName(written, index)),
      ...(isDigits && Number.isFinite(Number(plain)) ? { number: Number(plain) } : {}),
      ...(unit === undefined ? {} : { unit }),
    }
  })
}

/** "IT", and the month in "in May". */
const isName = (written: string, index: number) => /^[A-Z]{2,}$/.test(written) || (written === 'May' && index > 0)

const removeSeparators = (digits: string) =>
  /\.\d{3},\d/.test(digits) ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', '')

/** With the day of the question, seasons and words such as "overdue" are read, too. */
export function parseQuestion(text: string, today?: string): Question {
  const words = splitWords(text.replaceAll(/(?<!\d\s*)%/g, ' percent ').replaceAll(/\bdays? of the week\b/gi, 'weekday'))
  const isYearOfAmount = ({ start, end, from }: DateMention) =>
    from.length === YEAR_LENGTH && words.slice(start, end).some(({ number }, offset) => isYear(number) && isAmount(words, start + offset))
  const dates: DateMention[] =
    today === undefined ? findDates(words) : [...findDates(words).filter((date) => !isYearOfAmount(date)), ...findSeasons(words)]
  // The 15 of "after 15 March 2024" is no amount.
  const numbers = findNumbers(words).filter(
    ({ start, end }) =>
      !dates.some((date) => (date.isDay || date.months || date.from.length === MONTH_LENGTH) && date.start < end && start < date.end),
  )
  // "Show" is a noun in "our best show".
  if (today !== undefined)
    for (const word of words.slice(1)) {
      if (word.text === 'show') word.isStop = false
      else if (word.text === 'none' || word.text === 'nothing') word.isStop = true
    }
  const stems = new Set(words.map((word) => word.stem))
  return { text, words, stems, numbers, dates, ...(today === undefined ? {} : { today }) }
}

const getUnit = (word: Word | undefined): Pick<NumberMention, 'unit'> => (word?.unit === undefined ? {} : { unit: word.unit })

function findNumbers(words: readonly Word[]): NumberMention[] {
  const mentions: NumberMention[] = []
  for (const [index, word] of words.entries()) {
    const ordinal = readOrdinal(word.text)
    if (ordinal !== undefined)
      mentions.push({ start: index, end: index + 1, value: ordinal, comparison: 'equal', isWord: true, isOrdinal: true })
    const value = word.number ?? NUMBER_WORDS[word.text]
    if (value === undefined) continue
    const isWord = word.number === undefined
    const unit = getUnit(word)
    const upper = words[index + 2]?.number ?? NUMBER_WORDS[words[index + 2]?.text ?? '']
    const isRange = upper !== undefined && ['and', 'to', 'through', 'until'].includes(words[index + 1]?.text ?? '')
    if (isRange && ['between', 'from'].includes(words[index - 1]?.text ?? ''))
      mentions.push({
        start: index - 1,
        end: index + 3,
        value,
        until: upper,
        comparison: 'between',
        isWord,
        ...unit,
        ...getUnit(words[index + 2]),
      })
    const compared = findComparison(words, index, index + 1)
    if (compared) mentions.push({ ...compared, value, isWord, ...unit })
    mentions.push({ start: index, end: index + 1, value, comparison: 'equal', isWord, ...unit })
  }
  return mentions
}

/** Returns where a phrase of several words starts, or -1. */
export function findPhrase(words: readonly Word[], phrase: string): number {
  const parts = phrase.split(' ')
  return words.findIndex((_, index) => parts.every((part, offset) => words[index + offset]?.text === part))
}

/** Returns the numbers of "top 5" and "the three largest", which limit the rows. */
export function listLimits({ numbers, words, today }: Question): NumberMention[] {
  // "Which three customers have the most points?"
  const isSelected = (start: number, end: number) =>
    today !== undefined &&
    ['which', 'what'].includes(words[start - 1]?.text ?? '') &&
    words.slice(end).some(({ text }) => COUNTING_SUPERLATIVES.has(text) || EXTREME_WORDS.has(text))
  return numbers.filter(
    ({ start, end, value, comparison, isOrdinal }) =>
      comparison === 'equal' &&
      !isOrdinal &&
      Number.isInteger(value) &&
      value > 1 &&
      value <= MAX_LIMIT &&
      ([words[start - 1], words[end]].some((word) => word && isSuperlative(word)) || isSelected(start, end)),
  )
}
