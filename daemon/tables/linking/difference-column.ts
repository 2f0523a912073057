/** Adds what is left of a number to a table, as a column, if the question asks for it: free places, booked people who did not come. */
import { isMoney } from '../cells/column-roles.ts'
import type { Question } from '../parse-question.ts'
import { quoteName } from '../sql/write-sql.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { toStems } from '../vocabulary.ts'
import { hasHeaderStem } from './links.ts'

const PLACES = '(?:places?|seats?|spots?|spaces?|slots?|tickets?|beds?)'
const FREE = '(?:free|open|empty|available|unsold|remaining|vacant|unused|left)'
const COME = '(?:turn(?:ed)? up|show(?:ed|n)? up|come|came|attend(?:ed)?|appear(?:ed)?)'

/** The words of a question, what the column is called, and the stems of the headers of what there is and of what is taken from it. */
const DIFFERENCES = [
  {
    phrase: new RegExp(
      String.raw`(?<=\bhow many (?:more )?)(?:${FREE} ${PLACES}(?: (?:is|are|was|were|still|do|does|we|have|there))*(?: left)?|` +
        String.raw`${PLACES}(?: (?:is|are|was|were|still|do|does|we|have|there))* ${FREE})\b`,
      'i',
    ),
    name: 'free places',
    whole: toStems('capacity maximum max seats limit spots places slots spaces'),
    part: toStems('enrolled booked registered participants occupied sold taken reserved registrations bookings'),
  },
  {
    phrase: new RegExp(String.raw`\bbooked\b(?: [\p{L}\p{N}]+){0,6} not ${COME}\b`, 'iu'),
    name: 'people who did not come',
    whole: toStems('booked registered enrolled reserved'),
    part: toStems('attended attendance present came'),
  },
  {
    phrase: /\bbudget (?:is |are )?(?:still )?(?:left|remaining|unspent)\b|\b(?:remaining|unspent|unused) budget\b/i,
    name: 'remaining budget',
    whole: toStems('budget'),
    part: toStems('spent actual used'),
  },
]

/** Returns the table with the column at its end, or as it is. */
export function subtractColumns<T extends TypedTable>({ words }: Question, table: T): T {
  const text = words.map((word) => word.text).join(' ')
  for (const { phrase, name, whole, part } of DIFFERENCES) {
    const found = phrase.exec(text)?.[0]
    if (found === undefined) continue
    const [from, other] = listNumbers(table, whole, part)
    const [taken, second] = listNumbers(table, part, whole)
    if (!from || !taken || other || second || isMoney(from) !== isMoney(taken)) continue
    const [a, b] = [from, taken].map(({ readings }) => quoteName(readings.number ?? ''))
    const column: Column = {
      ...from,
      header: `${name} (${from.header} − ${taken.header})`,
      phrase: found,
      scale: Math.max(from.scale, taken.scale),
      readings: { text: name, number: name },
      expression: `(${a} - COALESCE(${b}, 0))`,
    }
    return { ...table, columns: [...table.columns, column] }
  }
  return table
}

/** Columns of numbers with one of the words, but none of the other ones, in their headers. */
const listNumbers = ({ columns }: TypedTable, stems: ReadonlySet<string>, others: ReadonlySet<string>): Column[] =>
  columns.filter(
    (column) => column.readings.number && column.type !== 'boolean' && hasHeaderStem(column, stems) && !hasHeaderStem(column, others),
  )
