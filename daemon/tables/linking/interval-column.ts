/** Adds the days between two dates of a row to a table, as a column, if the question asks how long something took. */
import type { Question } from '../parse-question.ts'
import { quoteName } from '../sql/write-sql.ts'
import type { CellValue, Column, TypedTable } from '../typed-table.ts'
import { isEndDate, isStartDate, listMeantDates } from './date-choice.ts'
import { linkQuestion } from './link-question.ts'

const ASKS_FOR_TIME = new RegExp(
  [
    String.raw`\bhow (?:long|many days)\b`,
    String.raw`\b(?:days|time) between\b`,
    String.raw`\b(?:average|mean|median|typical|longest|shortest|total) (?:\w+ )?(?:time|duration|length|stay|delay|wait|days)\b`,
    String.raw`\b(?:takes?|took|taken|waited|lasted)\b.*\b(?:longest|shortest|(?:longer|more|less|fewer) than .* days?|average)\b`,
    String.raw`\b(?:longest|shortest)\b.*\bto (?:be )?\w+`,
  ].join('|'),
  'i',
)
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
    const isDate = (column: number) => table.columns[column]?.readings.date !== undefined
    const isParticular = (start: number) => !['date', 'when', 'day', 'days'].includes(words[start]?.text ?? '')
    const named = links.filter(({ column, start }) => isDate(column) && isParticular(start)).sort((a, b) => a.start - b.start)
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
    if (first !== undefined && first !== start) return [start, first]
    const ends = [...table.columns.keys()].filter((column) => isDate(column) && isEndDate(table.columns[column] as Column))
    return ends.length === 1 ? [start, ends[0] as number] : undefined
  }
}
