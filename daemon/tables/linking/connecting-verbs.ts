/** Finds verbs and nouns that only connect what other words name: "who teaches", "which title was borrowed". */
import type { Word } from '../parse-question.ts'
import type { TypedTable } from '../typed-table.ts'
import { COUNTING_SUPERLATIVES, GROUP_WORDS, isOperationWord, isSuperlative, toWords } from '../vocabulary.ts'
import { isInValue, isLinked, type Links } from './links.ts'
import { FINITE, findHead, HEADS, isPlural } from './question-nouns.ts'
import { WORK_STEMS } from './role-words.ts'

const AGENT = /[eo]rs?$/i
/** Whether a word names who does something, such as "Driver" or "Visitors". */
export const isAgent = (word: string): boolean => AGENT.test(word) && !/[ _]/.test(word)

const SUBJECTS = toWords('have has had that who which been')
/** A noun follows these. */
const NOUN_MARKERS = toWords('the a an our my your their its this that from of in for by with to on at')
/** "Rented at least twice". */
const TIMES_PHRASE = /^(?:(?:at least|at most|more than|less than|fewer than|only|exactly|just) )?(?:once|twice|thrice|\w+ times)\b/
const VERBS = toWords('do have be')
export const AUXILIARIES = toWords('do does did')
/** "Have we charged". */
const PERFECT = toWords('have has had')
const PRONOUNS = toWords('we i you they he she')

/** Returns the verbs of "who teaches", "did Tanaka stay" and "which supplier delivers": what they connect is named by the other words. */
export function listVerbs(words: readonly Word[], isFree: (index: number) => boolean, isNamedValue: (index: number) => boolean): number[] {
  const auxiliary = words.findIndex(
    ({ text }, index) => AUXILIARIES.has(text) || (PERFECT.has(text) && PRONOUNS.has(words[index + 1]?.text ?? '')),
  )
  const main = words.findIndex(
    (word, index) => auxiliary >= 0 && index > auxiliary + 1 && !word.isStop && !isNamedValue(index) && !isSuperlative(word),
  )
  const question = words.findIndex(({ text }) => text === 'who' || text === 'which')
  // "The compressor" and "the boat insurance" are no verbs.
  const isVerb = (index: number) => !NOUN_MARKERS.has(words[index - 1]?.text ?? '') && !isVerbAfter(words, index)
  const next = words[question]?.text === 'who' ? question + 1 : question + 2
  // "Leave requests are" has another verb.
  const isThirdPerson =
    words[question]?.text === 'who' || (words[next]?.text.endsWith('s') === true && !FINITE.has(words[next + 1]?.text ?? ''))
  return [...(main >= 0 && isFree(main) && isVerb(main) ? [main] : []), ...(question >= 0 && isThirdPerson && isFree(next) ? [next] : [])]
}

/** "Run" of "does the insurance run out" is the verb. */
const isVerbAfter = (words: readonly Word[], index: number): boolean => {
  const next = words[index + 1]
  return (
    next !== undefined &&
    (VERBS.has(next.text) || (!next.isStop && isOperationWord(next) && !isSuperlative(next) && !GROUP_WORDS.has(next.text)))
  )
}

/** "Vehicles that have driven more than 100,000 km", "rentals that lasted longer than 10 days": the comparison says what is measured. */
export const listComparedVerbs = (words: readonly Word[], isFree: (index: number) => boolean, { columns, conditions }: Links): number[] =>
  words.flatMap(({ text }, index) => {
    const previous = words[index - 1]
    const isAfterSubject =
      previous !== undefined &&
      (previous.isTitle || SUBJECTS.has(previous.text) || columns.some(({ end, match }) => end === index && match !== 'synonym'))
    const rest = words.slice(index + 1).map((word) => word.text)
    const isCompared =
      conditions.some(({ start, match }) => start === index + 1 && match === 'comparison') || TIMES_PHRASE.test(rest.join(' '))
    return isAfterSubject && isCompared && /(?:ed|en|t|s)$/.test(text) && isFree(index) ? [index] : []
  })

/** "Which van burned the most diesel", "who taught the most lessons": what is measured or counted follows. */
export const listMostVerbs = (
  words: readonly Word[],
  isFree: (index: number) => boolean,
  { columns }: TypedTable,
  links: Links,
): number[] =>
  words.flatMap(({ stem }, index) => {
    const most = words[index + 1]?.text === 'the' ? index + 2 : index + 1
    if (index < 2 || !COUNTING_SUPERLATIVES.has(words[most]?.text ?? '') || !isFree(index)) return []
    const object = most + 1
    const isMeasured = links.columns.some(({ start, column }) => start === object && columns[column]?.readings.number !== undefined)
    const isCounted = words[object]?.isTitle || [...links.columns, ...links.conditions].some(({ start }) => start === object)
    return isMeasured || (isCounted && WORK_STEMS.has(stem)) ? [index] : []
  })

/** "Which title was borrowed most often?" need not use the column "Borrowed on", nor "all we sent" the date that every row has. */
export const listParticiples = (words: readonly Word[], { columns }: TypedTable, links: Links): number[] =>
  links.columns.flatMap(({ column, start, match }) =>
    columns[column]?.readings.date &&
    ((match !== 'synonym' && words[start]?.text.endsWith('ed')) ||
      (PRONOUNS.has(words[start - 1]?.text ?? '') && !columns[column]?.hasEmptyCells)) &&
    !isInValue(links, start)
      ? [start]
      : [],
  )

/** "Rented" of "how many rented bikes" does not mean the columns Renter and "Rented on": all rows are about what was rented. */
export const listAttributes = (words: readonly Word[], { columns }: TypedTable, links: Links): number[] =>
  links.columns.flatMap(({ start, end, column }) => {
    const { header = '', readings, hasEmptyCells } = columns[column] ?? {}
    const isBeforeNoun = HEADS.has(words[start - 1]?.text ?? '') && end - start === 1 && isPlural(words[end])
    // "Guided tours" are tours, whoever is the guide.
    const isOfAllRows = hasEmptyCells ? words[end]?.isTitle && !/ed\b/i.test(header) : readings?.date !== undefined || isAgent(header)
    return isBeforeNoun && isOfAllRows && /[^e]ed$/.test(words[start]?.text ?? '') ? [start] : []
  })

/** "Car" of "which car make do we see most often" only describes the column Make. */
export const isModifier = (words: readonly Word[], index: number, links: Links): boolean =>
  ['which', 'what'].includes(words[index - 1]?.text ?? '') &&
  findHead(words, index - 1) === index + 1 &&
  !isLinked(links, index) &&
  links.columns.some(({ start, match }) => start === index + 1 && match === 'exact')
