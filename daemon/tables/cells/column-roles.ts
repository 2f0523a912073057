/** What columns can be used for, as their headers and types say: money, years, names, sums, orders, scores. */
import type { Column, Reading, TypedTable } from '../typed-table.ts'
import { expandHeader } from './header-words.ts'

const NOT_ADDITIVE = new RegExp(
  [
    String.raw`\b(?:unit|price|rate|age|year|percentage|score|rating|average|avg|grades?|marks?|temp|temperature|abv|ibu|level)\b`,
    String.raw`(?:\bper |\/ ?)(?!month|year|week|quarter|annum)|%`,
  ].join('|'),
  'i',
)
export const PLACE_IN_ORDER = /rank|position|place|pos\b|time|duration|no\b/i
const SCORE = /\b(?:scores?|points|grades?|ratings?|marks?|results?)\b/i
/** "Order No", "Invoice number". */
const NUMBERING = /\S\s(?:no|nr|number)\.?$/i
/** Amounts that are only part of what is paid. */
export const SECONDARY = /\b(?:deposit|tax|vat|discount|shipping|tip|bonus|refund|commission)\b/i
const QUANTITY = /\b(?:quantity|qty|quantities|units?|pieces|pcs|copies|sold|ordered|shipped|delivered)\b/i

const PEOPLE =
  /\b(?:attended|attendance|attendees|visitors|guests|participants|people|persons|pax|covers|heads|enrolled|registered|spectators)\b/i

/** What is paid for something, beside the price for which it is sold. */
const EXPENSE = /\b(?:costs?|purchase|deposit)\b/i
const PRICE = /\b(?:total|price|revenue|fee)\b/i

const MONEY_HEADER = new RegExp(
  [
    String.raw`\b(?:price|cost|amount|fee|revenue|salary|wage|rent|budget|arrears|balance|debt|deposit|income|expenses?)\b`,
    String.raw`\b(?:premium|turnover|profit|donation|tuition|eur|usd|gbp|chf)\b`,
    '^(?:total|value|worth)$|[$€£]',
  ].join('|'),
  'i',
)
/** Other decimals are measures. */
const MEASURE_HEADER = new RegExp(
  [
    String.raw`\((?!eur|usd|gbp|chf|[$€£])[^)]+\)`,
    String.raw`\b(?:size|area|weight|distance|length|height|width|depth|volume|duration|hours?|minutes|days|weeks|age)\b`,
    String.raw`\b(?:speed|capacity|power|energy|consumption|usage|mileage|yield|efficiency|temp\w*|dose|dosage|abv|ibu|ph|lat\w*|lon\w*)\b`,
    String.raw`\b(?:score|rating|rate|share|grade|mark|gpa|factor|ratio|index|percent\w*|pct)\b`,
    String.raw`\b(?:kwp?|kwh|mwh?|km|kg|tons?|tonnes?|lit(?:er|re)s?)\b`,
  ].join('|'),
  'i',
)

/** The words of "deposit_paid" are those of "Deposit paid". */
const has = ({ header }: Column, pattern: RegExp): boolean => pattern.test(header.replaceAll('_', ' '))

export const isMoney = ({ header, type, scale, readings }: Column): boolean => {
  if (readings.number === undefined || type === 'boolean') return false
  const name = expandHeader(header)
  return type === 'currency' || MONEY_HEADER.test(name) || (type === 'decimal' && scale > 0 && !MEASURE_HEADER.test(name))
}

/** Whether a column has years as whole numbers. */
export const isYear = (column: Column | undefined): boolean => column?.type === 'integer' && has(column, /\b(?:year|built)\b/i)

/** Numbers that name something are neither added nor compared. */
export const isIdentifier = (header: string): boolean => /(?:^|[\s_-])(?:ids?|code|sku|zip|phone)$/i.test(header)

/** Returns the first column of text that is no number or code of the rows. */
export const findNamingColumn = (columns: readonly Column[]): number =>
  columns.findIndex(({ header, type, readings }) => type === 'text' && !readings.number && !readings.date && !isIdentifier(header))

/** Returns the position of the column that names the rows: "Full name" beside "Employee ID". */
export const findNameColumn = (columns: readonly Column[]): number | undefined => {
  const index = columns.findIndex(({ header, type }) => type === 'text' && /(?:^|[\s_])name$/i.test(header))
  return index < 0 ? undefined : index
}

/** Prices are added up where nothing says how many there are of each. */
export const isAdditive = (column: Column, { columns }: TypedTable): boolean =>
  !isPercentage(column) &&
  (column.expression !== undefined ||
    !has(column, NOT_ADDITIVE) ||
    has(column, /\btotal\b/i) ||
    (has(column, /\bprice\b/i) && !has(column, /\b(?:unit|per|list)\b|\//i) && !columns.some(isQuantity)))
/** Percentages of different amounts are not added up. */
export const isPercentage = (column: Column): boolean =>
  column.type === 'percentage' || (column.type !== 'currency' && has(column, /%|\b(?:pct|percent)\b/i))
const PLACE =
  /\b(?:place|location|city|town|venue|room|hall|site|address|branch|country|region|street|shelf|office|depot|building|where|shop|stored)$/i
export const isPlace = (column: Column): boolean => has(column, PLACE)
/** Whether the numbers are averages themselves. */
export const isAverage = (column: Column): boolean => has(column, /\b(?:average|avg|mean)\b/i)
/** Whether the header is about only part of what is paid: "Deposit paid". */
export const isSecondary = (column: Column): boolean => has(column, SECONDARY)
const TOTAL = /\b(?:total|sum|takings|revenue|turnover|gross)\b/i
/** Whether numbers are what others add up to. */
export const isTotal = (column: Column): boolean => has(column, TOTAL) && !has(column, /\b(?:unit|each)\b/i)
/** Whether prices are those before discounts. */
const isListPrice = (column: Column): boolean => has(column, /\b(?:list|original|regular|catalogue)\b/i)
/** How likely an amount is meant that the question does not name: a total, other amounts, or prices and parts of what is paid. */
const rankAmount = (column: Column, table: TypedTable): number =>
  isTotal(column) ? 3 : isListPrice(column) ? 0 : isSecondary(column) || !isAdditive(column, table) ? 1 : 2
/** "More than 1000 euros" are those of the total: returns the other amounts, unless the question names them. */
export function findLesserAmounts(table: TypedTable, named: ReadonlySet<number>): ReadonlySet<number> {
  const ranks = table.columns.map((column) => (isMoney(column) ? rankAmount(column, table) : Number.POSITIVE_INFINITY))
  const best = Math.max(...ranks.filter(Number.isFinite))
  return new Set([...ranks.keys()].filter((column) => (ranks[column] ?? 0) < best && !named.has(column)))
}
export const isOrder = (column: Column): boolean => column.type === 'duration' || column.type === 'date' || has(column, PLACE_IN_ORDER)
/** Whether another column has the price, and this one only what was paid for it: "Parts cost" beside "Total price". */
export const isExpenseBesidePrice = (column: Column, { columns }: TypedTable): boolean =>
  isMoney(column) && has(column, EXPENSE) && columns.some((other) => has(other, PRICE) && !has(other, EXPENSE))
/** Whether the header names one amount of money: "Deposit". */
export const isPayment = (column: Column): boolean => isMoney(column) || (column.type === 'integer' && isSecondary(column))
export const isScore = (column: Column): boolean => column.readings.number !== undefined && has(column, SCORE)
/** Whether numbers number something: "Order No". */
export const isNumbering = (column: Column): boolean => has(column, NUMBERING)
/** Whether a column has the numbers or codes of rows. */
export const identifiesRows = (column: Column | undefined): boolean =>
  column !== undefined && (isIdentifier(column.header) || isNumbering(column))
/** Whether numbers say how many people there were. */
export const countsPeople = (column: Column): boolean => column.type === 'integer' && PEOPLE.test(expandHeader(column.header))
/** Whether numbers say how many there are of something. */
export const isQuantity = (column: Column): boolean => (column.type === 'integer' || column.type === 'decimal') && has(column, QUANTITY)

/** Whether numbers may say how many there are: "Number" beside things, but also beside players. */
export const mayCount = (column: Column): boolean =>
  column.type === 'integer' && /^(?:number|count|how many|no\.? of \w+|number of \w+)$/i.test(column.header.replaceAll('_', ' ').trim())

/** Whether a column tells how old something is: its year, or a date that does not lie ahead. For people, the date of birth. */
export function isOrigin({ columns }: TypedTable, key: number, reading: Reading, isOfPerson: boolean): boolean {
  const { [key]: column } = columns
  const header = column?.header.replaceAll('_', ' ') ?? ''
  const isBirthday = (each: Column) => each.readings.date !== undefined && has(each, /\b(?:birth|birthday|born|dob)\b/i)
  if (isOfPerson || columns.some(isBirthday)) return reading === 'date' && column !== undefined && isBirthday(column)
  if (columns.some(isYear)) return isYear(columns[key])
  return reading === 'date' && !/\b(?:due|next|end|ends|expir\w*|deadline|until)\b/i.test(header)
}
