/** What columns can be used for, as their headers and types say: sums, orders, scores. */
import { isMoney, isYear } from '../infer-columns.ts'
import type { Column, Reading, TypedTable } from '../typed-table.ts'

const NOT_ADDITIVE = /(?:^|[\s_])(?:unit|price|rate|age|year|percentage|score|rating|average|avg)(?:$|[\s_])/i
export const PLACE_IN_ORDER = /rank|position|place|pos\b|time|duration|no\b/i
const SCORE = /\b(?:scores?|points|grades?|ratings?|marks?|results?)\b/i
/** "Order No", "Invoice number". */
const NUMBERING = /\S[\s_](?:no|nr|number)\.?$/i
/** Amounts that are only part of what is paid. */
const SECONDARY = /\b(?:deposit|tax|vat|discount|shipping|tip|bonus|refund)\b/i
const QUANTITY = /(?:^|[\s_])(?:quantity|qty|quantities|units?|pieces|pcs|copies|sold|ordered|shipped|delivered)(?:$|[\s_])/i

/** What is paid for something, beside the price for which it is sold. */
const EXPENSE = /\b(?:costs?|purchase|deposit)\b/i
const PRICE = /\b(?:total|price|revenue|fee)\b/i

/** Prices are added up where nothing says how many there are of each. */
export const isAdditive = ({ header, type }: Column, { columns }: TypedTable): boolean =>
  type !== 'percentage' &&
  (!NOT_ADDITIVE.test(header) ||
    /\btotal\b/i.test(header) ||
    (/\bprice\b/i.test(header) && !/\b(?:unit|per|list)\b/i.test(header) && !columns.some(isQuantity)))
export const isMainAmount = (column: Column): boolean => isMoney(column) && !SECONDARY.test(column.header)
export const isOrder = ({ type, header }: Column) => type === 'duration' || type === 'date' || PLACE_IN_ORDER.test(header)

export const isSecondaryAmount = (column: Column): boolean => isMoney(column) && SECONDARY.test(column.header)
/** Whether another column has the price, and this one only what was paid for it: "Parts cost" beside "Total price". */
export const isExpenseBesidePrice = (column: Column, { columns }: TypedTable): boolean => {
  const isExpense = ({ header }: Column) => EXPENSE.test(header.replaceAll('_', ' '))
  return isMoney(column) && isExpense(column) && columns.some((other) => PRICE.test(other.header.replaceAll('_', ' ')) && !isExpense(other))
}
/** Whether the header names one amount of money: "Deposit". */
export const isPayment = (column: Column): boolean => isMoney(column) || (column.type === 'integer' && SECONDARY.test(column.header))
export const isScore = ({ header, readings }: Column): boolean => readings.number !== undefined && SCORE.test(header)
/** Whether numbers number something: "Order No". */
export const isNumbering = ({ header }: Column): boolean => NUMBERING.test(header)
/** Whether numbers say how many there are of something. */
export const isQuantity = ({ header, type }: Column) => (type === 'integer' || type === 'decimal') && QUANTITY.test(header)

/** Whether a column tells how old something is: its year, or a date that does not lie ahead. For people, the date of birth. */
export function isOrigin({ columns }: TypedTable, key: number, reading: Reading, isOfPerson: boolean): boolean {
  if (isOfPerson) return reading === 'date' && /\b(?:birth|birthday|born|dob)\b/i.test(columns[key]?.header ?? '')
  if (columns.some(isYear)) return isYear(columns[key])
  return reading === 'date' && !/\b(?:due|next|end|ends|expir\w*|deadline|until)\b/i.test(columns[key]?.header ?? '')
}
