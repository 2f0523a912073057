/** Splits a question into words, and finds its numbers, dates and comparisons. */
import { stem } from '../language/content-words.ts'
import { MONTH_NAMES, parseDate, readMonth, WEEKDAY_NAMES } from './cells/parse-cell.ts'
import { COMPARISONS, type Comparison, DIRECTIONS, NUMBER_WORDS, ORDINAL_WORDS, STOP_WORDS } from './vocabulary.ts'
import { findUnit, isAmount } from './wording/number-units.ts'
import { findSeasons } from './wording/seasons.ts'

const MONTH_ABBREVIATIONS: ReadonlySet<string> = new Set(['jan', 'feb', 'apr', 'aug', 'sep', 'sept', 'oct', 'nov', 'dec'])
/** Of "2026-05". */
const MONTH_LENGTH = 7
/** Of "2026". */
const YEAR_LENGTH = 4
/** Of rows that a question may ask for. */
const MAX_LIMIT = 100

export interface Word {
  text: string
  stem: string
  isStop: boolean
  number?: number
  /** The sign or word beside a number, such as "%" or "kg", in lower case. */
  unit?: string
  /** Whether the word is one of the table's title, and therefore names its rows. */
  isTitle?: true
}

/** A part of a question: the words from `start` up to but not including `end`. */
export interface Span {
  start: number
  end: number
}

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

/** A year, a month, or both, or a day. */
export interface DateMention extends Span {
  /** The first moment, and the first after it, as prefixes of ISO dates. Both are empty for months without a year and weekdays. */
  from: string
  to: string
  months?: readonly number[]
  weekdays?: readonly number[]
  /** Whether it is one day, or a range of days. */
  isDay?: true
  comparison: Comparison
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
  if (today !== undefined) for (const word of words.slice(1)) if (word.text === 'show') word.isStop = false
  const stems = new Set(words.map((word) => word.stem))
  return { text, words, stems, numbers, dates, ...(today === undefined ? {} : { today }) }
}

function findNumbers(words: readonly Word[]): NumberMention[] {
  const mentions: NumberMention[] = []
  for (const [index, word] of words.entries()) {
    const ordinal = readOrdinal(word.text)
    if (ordinal !== undefined)
      mentions.push({ start: index, end: index + 1, value: ordinal, comparison: 'equal', isWord: true, isOrdinal: true })
    const value = word.number ?? NUMBER_WORDS[word.text]
    if (value === undefined) continue
    const isWord = word.number === undefined
    const unit = word.unit === undefined ? {} : { unit: word.unit }
    const upper = words[index + 2]?.number ?? NUMBER_WORDS[words[index + 2]?.text ?? '']
    const isRange = upper !== undefined && ['and', 'to', 'through', 'until'].includes(words[index + 1]?.text ?? '')
    if (isRange && ['between', 'from'].includes(words[index - 1]?.text ?? ''))
      mentions.push({ start: index - 1, end: index + 3, value, until: upper, comparison: 'between', isWord, ...unit })
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
export function listLimits({ numbers, words }: Question): NumberMention[] {
  const isSuperlative = (index: number) => DIRECTIONS.max.has(words[index]?.text ?? '') || DIRECTIONS.min.has(words[index]?.text ?? '')
  return numbers.filter(
    ({ start, end, value, comparison, isOrdinal }) =>
      comparison === 'equal' &&
      !isOrdinal &&
      Number.isInteger(value) &&
      value > 1 &&
      value <= MAX_LIMIT &&
      (isSuperlative(start - 1) || isSuperlative(end)),
  )
}

/** Finds a comparison before or after the words from `start` to `end`. An article or currency may stand between. */
export function findComparison(words: readonly Word[], start: number, end: number): (Span & { comparison: Comparison }) | undefined {
  for (const [phrase, comparison] of COMPARISONS) {
    const parts = phrase.split(' ')
    if (parts[0] === '…') {
      const after = parts.slice(1)
      for (const gap of [0, 1])
        if (after.every((part, offset) => words[end + gap + offset]?.text === part))
          return { start, end: end + gap + after.length, comparison }
    } else
      for (const gap of [0, 1, 2]) {
        const from = start - gap - parts.length
        const isGap = words.slice(from + parts.length, start).every((word) => word.isStop || word.text.length <= 3 || word.text === 'year')
        if (from >= 0 && isGap && parts.every((part, offset) => words[from + offset]?.text === part))
          return { start: from, end, comparison }
      }
  }
  return undefined
}

const isYear = (number: number | undefined): number is number =>
  number !== undefined && Number.isInteger(number) && number >= 1500 && number <= 2100
const isDay = (number: number | undefined): number is number =>
  number !== undefined && Number.isInteger(number) && number >= 1 && number <= 31

function findDates(words: readonly Word[]): DateMention[] {
  const mentions: DateMention[] = []
  const add = (span: Span, bounds: Pick<DateMention, 'from' | 'to' | 'months'>) => {
    const compared = findComparison(words, span.start, span.end)
    const day = bounds.to.endsWith('~') ? { isDay: true as const } : {}
    if (compared && bounds.from !== '') mentions.push({ ...bounds, ...compared, ...day })
    mentions.push({ ...bounds, ...span, comparison: 'equal', ...day })
  }
  for (const [index, { text, number }] of words.entries()) {
    const iso = /^\d{4}-\d{2}-\d{2}$/.test(text)
      ? text
      : /^\d+[./]\d+[./]\d{4}$/.test(text)
        ? parseDate(text, text.includes('.'))?.iso
        : undefined
    if (iso !== undefined) add({ start: index, end: index + 1 }, getDayBounds(iso))
    if (isYear(number) && !text.includes(',')) {
      add({ start: index, end: index + 1 }, { from: text, to: String(number + 1) })
      const upper = words[index + 2]?.number
      if (isYear(upper) && ['and', 'to', 'through', 'until'].includes(words[index + 1]?.text ?? ''))
        mentions.push({ start: Math.max(0, index - 1), end: index + 3, from: text, to: String(upper + 1), comparison: 'equal' })
    }
    const period = findPeriod(words, index)
    if (period) add(period, period)
    const weekdays = readWeekdays(text)
    if (weekdays) mentions.push({ start: index, end: index + 1, from: '', to: '', weekdays, comparison: 'equal' })
    const month = /^[a-z]{3,9}$/.test(text) ? readFullMonth(text) : 0
    if (month === 0) continue
    const [previous, next, second] = [words[index - 1]?.number, words[index + 1]?.number, words[index + 2]?.number]
    const pad = (number: number) => String(number).padStart(2, '0')
    if (isDay(previous) && isYear(next)) add({ start: index - 1, end: index + 2 }, getDayBounds(`${next}-${pad(month)}-${pad(previous)}`))
    else if (isYear(next)) add({ start: index, end: index + 2 }, getMonthBounds(next, month))
    else if (isDay(next) && isYear(second)) add({ start: index, end: index + 3 }, getDayBounds(`${second}-${pad(month)}-${pad(next)}`))
    else if (isDay(next)) add({ start: index, end: index + 2 }, getDayBounds(`0000-${pad(month)}-${pad(next)}`))
    else if (isDay(previous)) add({ start: index - 1, end: index + 1 }, getDayBounds(`0000-${pad(month)}-${pad(previous)}`))
    else add({ start: index, end: index + 1 }, { from: '', to: '', months: [month] })
  }
  return joinRanges(words, mentions)
}

/** "Between 15 March and 15 April 2025", "from March to May 2025": the first date may have the year of the second. */
function joinRanges(words: readonly Word[], mentions: readonly DateMention[]): DateMention[] {
  const single = mentions.filter(({ comparison, from, months }) => comparison === 'equal' && (from !== '' || months?.length === 1))
  const ranges = single.flatMap((first) =>
    single.flatMap((second): DateMention[] => {
      const isNext = second.start === first.end + 1 && ['and', 'to', 'until', 'through'].includes(words[first.end]?.text ?? '')
      const hasStart = ['between', 'from'].includes(words[first.start - 1]?.text ?? '')
      const year = /^[1-9]\d{3}/.exec(second.from)?.[0]
      if (!isNext || !hasStart || year === undefined) return []
      const from = first.months?.[0] === undefined ? first.from.replace(/^0000/, year) : getMonthBounds(Number(year), first.months[0]).from
      return [{ start: first.start - 1, end: second.end, from, to: second.to, isDay: true, comparison: 'equal' }]
    }),
  )
  const isInside = (inner: Span, outer: Span) => inner.start >= outer.start && inner.end <= outer.end
  // "2025" in "15 March 2025" is no date of its own.
  const longer = [...ranges, ...mentions.filter(({ isDay }) => isDay)]
  const isPart = (mention: DateMention) =>
    longer.some((other) => isInside(mention, other) && !(mention.isDay && other.from === mention.from))
  return [...ranges, ...mentions.filter((mention) => !isPart(mention))]
}

const PERIODS = [
  { letter: 'q', name: 'quarter', length: 3 },
  { letter: 'h', name: 'half', length: 6 },
]

/** "Q1 2024", "the first quarter of 2024" and "the second half of 2024", also without a year. */
function findPeriod(words: readonly Word[], index: number): (Span & Pick<DateMention, 'from' | 'to' | 'months'>) | undefined {
  const [text, next] = [words[index]?.text ?? '', words[index + 1]]
  const at = [index + 2, index + 3].find((position) => isYear(words[position]?.number))
  const year = at === undefined ? undefined : words[at]?.number
  for (const { letter, name, length } of PERIODS) {
    const position = text === letter ? next?.number : next?.text === name ? readOrdinal(text) : undefined
    if (position === undefined || position < 1 || position * length > 12) continue
    const months = Array.from({ length: length }, (_, offset) => (position - 1) * length + 1 + offset)
    if (at === undefined || year === undefined) return { start: index, end: index + 2, from: '', to: '', months }
    const bounds = [months[0] as number, months.at(-1) as number].map((month) => getMonthBounds(year, month))
    return { start: index, end: at + 1, from: bounds[0]?.from ?? '', to: bounds[1]?.to ?? '' }
  }
  return undefined
}

/** The days of "Monday", "Fridays" and "weekends". */
function readWeekdays(text: string): readonly number[] | undefined {
  if (/^weekends?$/.test(text)) return [0, 6]
  const day = WEEKDAY_NAMES.indexOf(text.replace(/s$/, ''))
  return day < 0 ? undefined : [day]
}

/** Whole names, and abbreviations that are no words: "Marco" is no month. */
function readFullMonth(text: string): number {
  return MONTH_NAMES.includes(text) || MONTH_ABBREVIATIONS.has(text) ? readMonth(text) : 0
}

const getDayBounds = (iso: string) => ({ from: iso, to: `${iso}~` })
const getMonthBounds = (year: number, month: number) => ({
  from: `${year}-${String(month).padStart(2, '0')}`,
  to: month === 12 ? String(year + 1) : `${year}-${String(month + 1).padStart(2, '0')}`,
})

/** Returns the nth that an ordinal such as "third" or "3rd" stands for. */
export function readOrdinal(text: string): number | undefined {
  const digits = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(text)?.[1]
  return digits === undefined ? ORDINAL_WORDS[text] : Number(digits)
}
