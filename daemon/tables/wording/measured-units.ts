/** Units are measured by a column: "how many hours" counts no rows. */

import { type ColumnLink, isInValue, type Links } from '../linking/links.ts'
import { covers, splitWords, type Word } from '../parse-question.ts'
import type { TypedTable } from '../typed-table.ts'
import { toStems } from '../vocabulary.ts'

const UNIT_STEMS = toStems(
  `hour day week month year minute second money euro eur dollar usd pound gbp cent km kilometre kilometer mile kg kilo litre liter metre
  meter percent rate ratio average`,
)

const SPAN_STEMS = toStems('take took taken need needed')

/** Whether a word is a unit, or describes one: "sick days". */
export const isUnit = (words: readonly Word[], index: number): boolean =>
  [index, index + 1].some((at) => UNIT_STEMS.has(words[at]?.stem ?? '') && !words[at]?.isTitle)

/** "Per unit" asks for no groups where a column is "cost_per_unit". */
export const isRate = (words: readonly Word[], index: number, { columns }: TypedTable): boolean =>
  words[index]?.text === 'per' &&
  columns.some(({ header, readings }) =>
    splitWords(header).some(({ stem }, at, all) => readings.number && stem === words[index + 1]?.stem && all[at - 1]?.text === 'per'),
  )

/** Nor does "per month" where the column is "Fee per month". */
export const isPerUnit = (words: readonly Word[], index: number, table: TypedTable, links: Links): boolean =>
  isRate(words, index, table) ||
  (['per', 'each', 'every'].includes(words[index]?.text ?? '') &&
    UNIT_STEMS.has(words[index + 1]?.stem ?? '') &&
    links.columns.some(({ match, start, end, column }) => {
      const { readings, type } = table.columns[column] ?? {}
      return match !== 'synonym' && covers({ start, end }, index + 1) && readings?.number !== undefined && type !== 'text'
    }))

/** "Month" of "how many members left per month" does not name the column "Monthly fee". */
export const isGroupedPeriod = (words: readonly Word[], { start, end, match, column }: ColumnLink, { columns }: Links): boolean =>
  match !== 'exact' &&
  words.some(({ text }) => text === 'many') &&
  ['per', 'each', 'every'].includes(words[start - 1]?.text ?? '') &&
  end === start + 1 &&
  UNIT_STEMS.has(words[start]?.stem ?? '') &&
  !columns.some((link) => link.column === column && link.start !== start)

/**
 * Returns the columns that have the unit after "how many", none if the table does not have it. Undefined: the question asks for no unit.
 */
export function listUnitColumns(words: readonly Word[], links: Links): Set<number> | undefined {
  const many = words.findIndex(({ text }) => text === 'many')
  const unit = [many + 1, many + 2].find((index) => UNIT_STEMS.has(words[index]?.stem ?? ''))
  if (many < 0 || unit === undefined || isInValue(links, unit)) return undefined
  if (unit > many + 1 && (words[many + 1]?.isStop || words[many + 1]?.isTitle || isInValue(links, many + 1))) return undefined
  // "How many days did it take" counts no dates.
  const isSpan = words.some(({ stem }) => SPAN_STEMS.has(stem))
  const measured = new Set(
    links.columns.filter((link) => covers(link, unit) && !(isSpan && link.match === 'synonym')).map(({ column }) => column),
  )
  return measured.size === 0 && words[unit]?.isTitle ? undefined : measured
}
