/** Formats results of queries. */
import type { Operation, Query } from '../query.ts'
import type { SqlValue, TypedTable } from '../typed-table.ts'
import { formatYearMonth } from './parse-cell.ts'

/** Digits of an average whose column has none. */
const AVERAGE_DIGITS = 2

const isVerdict = (operation: Operation): boolean =>
  operation.kind === 'quantified' || (operation.kind === 'contrast' && operation.isVerdict === true)

/** Formats the first column of a result: numbers with the unit and digits of their column, yes and no in words. */
export function formatValue(table: TypedTable, { operation }: Query, value: SqlValue): string {
  if (operation.kind === 'exists' || isVerdict(operation)) return value === 1 ? 'yes' : 'no'
  if (operation.kind === 'group' && operation.part === 'month') return formatYearMonth(String(value))
  if (typeof value !== 'number') return String(value)
  if (operation.kind === 'share') return `${formatNumber(value, AVERAGE_DIGITS)}%`
  // An amount that is computed has no text.
  if (operation.kind === 'list' && table.columns[operation.column ?? -1]?.expression)
    return formatColumnNumber(table, operation.column as number, value)
  if (operation.kind === 'aggregate' || operation.kind === 'difference')
    return formatColumnNumber(table, operation.column, value, operation.aggregate === 'average' || operation.aggregate === 'median')
  return formatNumber(value)
}

/** Formats a row of a result: groups with their amounts, the largest with how large they are, or the cells of a row. */
export function formatRow(table: TypedTable, query: Query, row: readonly SqlValue[]): string[] {
  const { operation } = query
  const isAverage = 'aggregate' in operation && (operation.aggregate === 'average' || operation.aggregate === 'median')
  const key = 'key' in operation && operation.kind !== 'share' ? operation.key : undefined
  const second = operation.kind === 'group' ? operation.and?.part : undefined
  // How many rows are so is said with the answer.
  const cells = isVerdict(operation) ? row.slice(0, 1) : row
  return cells.map((value, index) => {
    if (value === null) return ''
    const measured = operation.kind === 'aggregate' ? operation.column : index === row.length - 1 ? key : undefined
    if (typeof value === 'number' && measured !== undefined && (index > 0 || operation.kind === 'aggregate'))
      return `${formatColumnNumber(table, measured, value, isAverage)}${getMeasure(table, measured)}`
    if (operation.kind === 'list' && operation.column !== undefined && /^\d+(?:\.\d+)?$/.test(String(value)))
      return formatColumnText(table, operation.column, value)
    if (index === 0) return formatValue(table, query, value)
    return typeof value === 'number' ? formatNumber(value) : second === 'month' ? formatYearMonth(value) : value
  })
}

/** "Duration (min)" */
const MEASURES =
  'k?m|[cm]m|miles|k?g|tons?|t|m?l|hl|lit(?:er|re)s|hrs?|h|hours|mins?|minutes|s|days|weeks|months|years|m²|sqm|sq m|ha|[km]wh?|kwp|°[cf]'
const MEASURE_OF_HEADER = new RegExp(String.raw`\((${MEASURES})\)$`, 'i')

const getMeasure = ({ columns }: TypedTable, column: number): string => {
  const { header = '', unit = '' } = columns[column] ?? {}
  const measure = unit === '' ? MEASURE_OF_HEADER.exec(header)?.[1] : undefined
  return measure === undefined ? '' : ` ${measure}`
}

/** "Price EUR", "Fee (£)" and "total_eur" */
const CURRENCY_OF_HEADER = /(?:^|[\s_([])(EUR|USD|GBP|CHF|JPY|[$€£¥])[)\]]?$/i

/** Formats a number of a column. Where the cells have no unit, the header may name a currency. */
export function formatColumnNumber(table: TypedTable, column: number, value: number, isAverage = false): string {
  const { type, header = '', unit: unitOfCells = '', scale = 0 } = table.columns[column] ?? {}
  const currency = unitOfCells === '' ? CURRENCY_OF_HEADER.exec(header)?.[1]?.toUpperCase() : undefined
  const unit = currency ?? unitOfCells
  const digits = isAverage ? Math.max(scale, AVERAGE_DIGITS) : scale
  const number = type === 'currency' || currency !== undefined ? formatMoney(value, digits) : formatNumber(value, digits)
  if (unit === '') return number
  return /^[$€£¥₹₽₩]/.test(unit) ? `${unit}${number}` : unit === '%' ? `${number}%` : `${number} ${unit}`
}

/** A cell without the unit of its column has it in the answer. */
const formatColumnText = (table: TypedTable, column: number, value: string | number): string =>
  CURRENCY_OF_HEADER.test(table.columns[column]?.header ?? '') ? formatColumnNumber(table, column, Number(value)) : String(value)

/** €1,234.50 */
const formatMoney = (value: number, digits: number): string =>
  toDecimal(value).toLocaleString('en-US', { minimumFractionDigits: Number.isInteger(value) ? 0 : digits, maximumFractionDigits: digits })

/** Rounds to the digits that a double holds, so that 0.1 + 0.2 is 0.3. */
const toDecimal = (value: number): number => Number(value.toPrecision(15))

/** Rounds half up, as a locale does with the decimal digits: toFixed rounds the binary fraction, in which 1.005 is a little less. */
export const formatNumber = (value: number, digits?: number): string => {
  const decimal = toDecimal(value)
  const isRounded = digits !== undefined && !Number.isInteger(decimal)
  return isRounded ? decimal.toLocaleString('en-US', { maximumFractionDigits: digits, useGrouping: false }) : String(decimal)
}
