/** Makes unit prices amounts, if the question asks for money that was spent or is tied up: quantity × unit price. */
import { isMoney, isQuantity } from '../cells/column-roles.ts'
import type { Question } from '../parse-question.ts'
import { quoteName } from '../sql/write-sql.ts'
import type { Column, TypedTable } from '../typed-table.ts'

const ASKS_FOR_AMOUNTS = new RegExp(
  [
    String.raw`\b(?:worth|value|spend|spent|revenue|turnover|sales|earn(?:ed)?)\b|\b(?:did|have|has) .*\b(?:pay|paid)\b`,
    String.raw`\b(?:total|overall) cost\b|\bcost .*\b(?:in total|altogether)\b`,
  ].join('|'),
  'i',
)
const UNIT_PRICE = /\b(?:unit|each|price|cost)\b/i
const STOCK = /\b(?:hand|stock|available|inventory|count)\b/i
const LIMIT = /\b(?:reorder|min|minimum|max|maximum|target|safety)\b/i

const toWords = ({ header }: Column) => header.replaceAll('_', ' ')
/** Whether numbers say how many there are of something: "Quantity", "On hand". */
export const countsThings = (column: Column): boolean =>
  (isQuantity(column) || (column.type === 'integer' && STOCK.test(toWords(column)))) && !isMoney(column) && !LIMIT.test(toWords(column))

/** Returns the table with the amounts in place of the unit prices, or as it is. */
export function multiplyPrices<T extends TypedTable>({ text }: Question, table: T): T {
  const { columns } = table
  const [price, other] = columns.filter(isMoney)
  const [quantity, second] = columns.filter(countsThings)
  if (!ASKS_FOR_AMOUNTS.test(text) || !price || other || !quantity || second || !UNIT_PRICE.test(toWords(price))) return table
  const amount: Column = {
    ...price,
    header: `${quantity.header} × ${price.header}`,
    scale: price.scale + quantity.scale,
    expression: `${quoteName(quantity.readings.number ?? '')} * ${quoteName(price.readings.number ?? '')}`,
  }
  return { ...table, columns: columns.map((column) => (column === price ? amount : column)) }
}
