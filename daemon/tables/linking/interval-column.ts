/** Adds the days between two dates of a row to a table, as a column, if the question asks how long something took. */
import type { Question, Word } from '../parse-question.ts'
import { quoteName } from '../sql/write-sql.ts'
import { findDueDates } from '../states/link-times.ts'
import { PAID_STEMS, PAYING_STEMS } from '../states/state-words.ts'
import type { CellValue, Column, TypedTable } from '../typed-table.ts'
import { toWords } from '../vocabulary.ts'
import { isEndDate, isStartDate, listMeantDates } from './date-choice.ts'
import { linkQuestion } from './link-question.ts'
import { type ColumnLink, hasHeaderStem, type Links, listHeaderStems, RANKS } from './links.ts'

const ASKS_FOR_TIME = new RegExp(
  [
    String.raw`\bhow (?:long|many days|late|early)\b`,
    String.raw`\b(?:days|time) between\b`,
    String.raw`\b(?:average|mean|median|typical|longest|shortest|total) (?:\w+ )?(?:time|duration|length|stay|delay|wait|days)\b`,
    String.raw`\b(?:takes?|took|taken|waited|lasted)\b.*\b(?:longest|shortest|(?:longer|more|less|fewer) than .* days?|average)\b`,
    String.raw`\b(?:longest|shortest)\b.*\bto (?:be )?\w+`,
  ].join('|'),
  'i',
)
const LATE = /\b(?:late|behind|overran|overrun|delay(?:ed)?|early)\b/i
const LENGTH_WORDS: ReadonlySet<string> = new Set('long longest shortest longer shorter days time duration length stay wait'.split(' '))

/** Whether the question asks how long something took, and a column such as "Nights" or "Duration" says so. */
export const hasDuration = (question: Question, table: TypedTable, values: readonly CellValue[]): boolean =>
  ASKS_FOR_TIME.test(question.text) &&
  linkQuestion(question, table, values).columns.some(
    ({ start, column }) => LENGTH_WORDS.has(question.words[start]?.text ?? '') && table.columns[column]?.readings.number !== undefined,
  )

/** Returns the table with the column at its end, or as it is. `hasOther`: another table has a duration, meant if no date is named. */
export function addInterval<T extends TypedTable>(question: Question, table: T, values: readonly CellValue[], hasOther: boolean): T {
  if (!ASKS_FOR_TIME.test(question.text) || hasDuration(question, table, values)) return table
  const links = linkQuestion(question, table, values).columns
  const { words } = question
  const pair = findPair()
  if (!pair) return table
  const [from, to] = pair.map((index) => table.columns[index] as Column) as [Column, Column]
  const [start, end] = [from, to].map(({ readings }) => `julianday(${quoteName(readings.date ?? '')})`)
  const column: Column = {
    header: `days from ${from.header} to ${to.header}`,
    type: 'decimal',
    unit: 'days',
    scale: 1,
    readings: { text: 'days', number: 'days' },
    expression: `ROUND(${end} - ${start}, 1)`,
  }
  return { ...table, columns: [...table.columns, column] }

  /** The two dates that the question names, or the one that it names and when the row began. */
  function findPair(): [number, number] | undefined {
    if (LATE.test(question.text)) {
      const headers = table.columns.map(listHeaderStems)
      const [due, actual] = findDueDates(question, table.columns, headers) ?? []
      if (due !== undefined && actual !== undefined) return /\bearly\b/i.test(question.text) ? [actual, due] : [due, actual]
    }
    const isDate = (column: number) => table.columns[column]?.readings.date !== undefined
    const isParticular = (start: number) => !['date', 'when', 'day', 'days'].includes(words[start]?.text ?? '')
    const dates = links.filter(({ column, start }) => isDate(column) && isParticular(start)).sort((a, b) => a.start - b.start)
    const isBest = ({ start: at, match }: ColumnLink) => !dates.some((other) => other.start === at && RANKS[other.match] > RANKS[match])
    const named = dates.filter(isBest)
    const [first, second] = new Set(named.map(({ column }) => column))
    if (first !== undefined && second !== undefined) {
      // "Until it was paid, counted from the day of issue".
      const [isFirstStart, isSecondStart] = [first, second].map((column) => isStartDate(table.columns[column] as Column))
      return isSecondStart && !isFirstStart ? [second, first] : [first, second]
    }
    if (first === undefined && hasOther) return undefined
    const { columns, areOfEvents } = listMeantDates([], table.columns, [])
    const [start] = columns
    if (start === undefined || !areOfEvents) return undefined
    const isStart = (column: number) => isStartDate(table.columns[column] as Column)
    // "How long before do people book?"
    if (first !== undefined && first !== start) return isStart(first) && !isStart(start) ? [first, start] : [start, first]
    const asksForPayment = words.some(({ stem }) => PAYING_STEMS.has(stem))
    const canEnd = (column: number) =>
      isDate(column) && isEndDate(table.columns[column] as Column) && isOfPayment(table.columns[column]) === asksForPayment
    const ends = [...table.columns.keys()].filter((column) => column !== start && canEnd(column))
    const [end = first === undefined ? undefined : columns[1], otherEnd] = ends
    return end === undefined || otherEnd !== undefined ? undefined : [start, end]
  }
}

const isOfPayment = (column: Column | undefined): boolean => hasHeaderStem(column, PAID_STEMS)

const PLACE_MARKERS = toWords('in at on with the our their its')

/** "Workshop" of "how many days was it in the workshop", and "arrives" of "until the payment arrives": the dates say so. */
export function isOfInterval(words: readonly Word[], index: number, { columns }: TypedTable, links: Links): boolean {
  const interval = columns.findIndex(({ expression, unit }) => expression !== undefined && unit === 'days')
  if (interval < 0) return false
  const isPayment = (at: number) => PAYING_STEMS.has(words[at]?.stem ?? '') && isOfPayment(columns[interval])
  const isNamed = isPayment(index - 1) || links.columns.some(({ column, end }) => column === interval && end === index)
  const isLast = words.slice(index + 1).every(({ isStop, text }) => isStop || text === 'average')
  const isPlace = isLast && PLACE_MARKERS.has(words[index - 1]?.text ?? '')
  return isPlace || isPayment(index) || (isNamed && /s$|ed$/.test(words[index]?.text ?? ''))
}
