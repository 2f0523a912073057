/** Formats results of queries. */
import type { Query } from '../query.ts'
import type { SqlValue, TypedTable } from '../typed-table.ts'
import { formatYearMonth } from './parse-cell.ts'

/** Digits of an average whose column has none. */
const AVERAGE_DIGITS = 2

/** Formats the first column of a result: numbers with the unit and digits of their column, yes and no in words. */
export function formatValue(table: TypedTable, { operation }: Query, value: SqlValue): string {
  if (operation.kind === 'exists') return value === 1 ? 'yes' : 'no'
  if (operation.kind === 'group' && operation.part === 'month') return formatYearMonth(String(value))
  if (typeof value !== 'number') return String(value)
  if (operation.kind === 'share') return `${formatNumber(value, AVERAGE_DIGITS)}%`
  if (operation.kind === 'aggregate')
    return formatColumnNumber(table, operation.column, value, operation.aggregate === 'average' || operation.aggregate === 'median')
  if (operation.kind === 'difference') return formatColumnNumber(table, operation.column, value)
  return formatNumber(value)
}

/** "Price EUR" and "Fee (£)" */
const CURRENCY_OF_HEADER = /(?:^|[\s_([])(EUR|USD|GBP|CHF|JPY|[$€£¥])[)\]]?$/

/** Formats a number of a column. Where the cells have no unit, the header may name a currency. */
export function formatColumnNumber(table: TypedTable, column: number, value: number, isAverage = false): string {
  const { type, header = '', unit: unitOfCells = '', scale = 0 } = table.columns[column] ?? {}
  const currency = unitOfCells === '' ? CURRENCY_OF_HEADER.exec(header)?.[1] : undefined
  const unit = currency ?? unitOfCells
  const digits = isAverage ? Math.max(scale, AVERAGE_DIGITS) : scale
  const number = type === 'currency' || currency !== undefined ? formatMoney(value, digits) : formatNumber(value, digits)
  if (unit === '') return number
  return /^[$€£¥₹₽₩]/.test(unit) ? `${unit}${number}` : unit === '%' ? `${number}%` : `${number} ${unit}`
}

/** €1,234.50 */
const formatMoney = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: Number.isInteger(value) ? 0 : digits, maximumFractionDigits: digits })

/** Rounds to the digits that a double holds, so that 0.1 + 0.2 is 0.3. */
export const formatNumber = (value: number, digits?: number): string => {
  const rounded = Number(value.toPrecision(15))
  return digits !== undefined && !Number.isInteger(rounded) ? String(Number(rounded.toFixed(digits))) : String(rounded)
}
