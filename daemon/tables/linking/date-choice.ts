/** Chooses the dates that a question means: those that it names, otherwise when something happened, not when it was due or paid. */
import { covers, type Span, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import { ACTUAL_STEMS, DUE_STEMS } from '../states/state-words.ts'
import type { Column } from '../typed-table.ts'
import { isSuperlative, STOP_WORDS, toStems } from '../vocabulary.ts'
import { type ColumnLink, hasHeaderStem, listHeaderStems, RANKS } from './links.ts'

/** Words that name no particular date. */
const ANY_DATE = toStems('date when day month year time last first')
/** Headers of dates that say little about when a row happened. */
const OTHER_STEMS = new Set([
  ...DUE_STEMS,
  ...ACTUAL_STEMS,
  ...toStems('birth born birthday next end ends expiry expires until last since hired hire joined'),
])
const ENDS_WITH_OUT = /\bout$/i
const END_STEMS = new Set([...ACTUAL_STEMS, ...toStems('end ends')])
/** "Packaged on" */
const PARTICIPLE = /\b\w{3,}ed\b/i
const MAX_DATES = 2
/** What was collected was paid then; what is owed was due then. */
const PAYMENT_STEMS = toStems('collect receive earn pay paid')
const DEBT_STEMS = toStems('owe owed owing unpaid outstanding overdue open due')
const START_BOUNDARIES = toStems('start starts started begin begins began')
const END_BOUNDARIES = toStems('end ends ended finish finishes expire expires')

const FINISHING_STEMS = toStems('finish finished complete completed')
const isEnd = (column: Column): boolean => isOut(column) || hasHeaderStem(column, END_BOUNDARIES)

const DATE_CONDITIONS: ReadonlySet<Condition['kind']> = new Set(['dates', 'months', 'weekdays'])
export const isDateCondition = ({ kind }: Condition): boolean => DATE_CONDITIONS.has(kind)

const isOut = ({ header }: Column): boolean => ENDS_WITH_OUT.test(header.replaceAll('_', ' '))
const isParticiple = ({ header }: Column): boolean => PARTICIPLE.test(header.replaceAll('_', ' '))

/** "When does the lease end?" does not ask for its start. */
export const isOtherBoundary = (words: readonly Word[], column: Column): boolean => {
  const asksForStart = words.some(({ stem }) => START_BOUNDARIES.has(stem))
  const asksForEnd = words.some(({ stem }) => END_BOUNDARIES.has(stem))
  return asksForStart !== asksForEnd && hasHeaderStem(column, asksForStart ? END_BOUNDARIES : START_BOUNDARIES)
}

const BEGINNING_STEMS = toStems(
  'start booked ordered opened issued submitted reported placed requested registered sent picked received invoice',
)
/** Whether a date says when something began: "Ordered on". */
export const isStartDate = (column: Column): boolean => hasHeaderStem(column, BEGINNING_STEMS)

/** Whether a date says when something was over: "Delivered on", "Check-out". */
export const isEndDate = (column: Column): boolean =>
  isOut(column) || (isParticiple(column) && !hasHeaderStem(column, DUE_STEMS)) || hasHeaderStem(column, END_STEMS)

export interface MeantDates {
  /** The most likely one first. */
  columns: number[]
  /** Whether the dates say when the rows happened, or the question names them: "hired" does not say when a salary was paid. */
  areOfEvents: boolean
  /** Whether the question names them. */
  areNamed?: true
}

/** Returns the columns with dates that the question may mean. `taken` are words that name other dates. */
export function listMeantDates(
  words: readonly Word[],
  columns: readonly Column[],
  links: readonly ColumnLink[],
  taken: readonly Span[] = [],
): MeantDates {
  const isDate = (column: number) => columns[column]?.readings.date !== undefined
  const names = links.filter(({ column, start, end }) => {
    const isParticular = words.slice(start, end).some(({ text, stem, isTitle }) => !isTitle && !STOP_WORDS.has(text) && !ANY_DATE.has(stem))
    return isDate(column) && isParticular && !taken.some((span) => covers(span, start))
  })
  if (names.length > 0) {
    const best = Math.max(...names.map(({ match }) => RANKS[match]))
    const named = new Set(names.filter(({ match }) => RANKS[match] === best).map(({ column }) => column))
    const areNamed = names.some(({ start }) => !isSuperlative(words[start] as Word))
    return { columns: [...named].slice(0, MAX_DATES), areOfEvents: true, ...(areNamed ? { areNamed } : {}) }
  }
  const dates = [...columns.keys()].filter(isDate)
  // What was finished in May ended then, whenever it began.
  const ends = words.some(({ stem }) => FINISHING_STEMS.has(stem)) ? dates.filter((column) => isEnd(columns[column] as Column)) : []
  if (ends.length === 1) return { columns: ends, areOfEvents: true }
  // The delivery date of deliveries is when they happened.
  const isOfRows = (column: Column) => words.some(({ isTitle, stem }) => isTitle && listHeaderStems(column).includes(stem))
  const isOther = (column: Column) => isOut(column) || listHeaderStems(column).some((stem) => OTHER_STEMS.has(stem) && !isOfRows(column))
  const all = dates.filter((column) => !isOther(columns[column] as Column))
  // What was ordered and then "packaged" happened when it was ordered.
  const events = all.filter((column, index) => index === 0 || !isParticiple(columns[column] as Column))
  // "Sold on" is named by "sold", also in sales.csv.
  const isNamed = ({ column, start, match }: ColumnLink) =>
    match !== 'synonym' && events.includes(column) && !ANY_DATE.has(words[start]?.stem ?? '') && !isSuperlative(words[start] as Word)
  const areNamed = links.some(isNamed)
  if (events.length > 0) return { columns: events.slice(0, MAX_DATES), areOfEvents: true, ...(areNamed ? { areNamed } : {}) }
  const has = (stems: ReadonlySet<string>) => words.some(({ stem }) => stems.has(stem))
  const wanted = has(PAYMENT_STEMS) ? ACTUAL_STEMS : has(DEBT_STEMS) ? DUE_STEMS : undefined
  const meant = dates.filter((column) => wanted !== undefined && hasHeaderStem(columns[column], wanted))
  return meant.length === 1 ? { columns: meant, areOfEvents: true } : { columns: dates.slice(0, MAX_DATES), areOfEvents: false }
}
