/** Matches amounts of a question with ranges in a table: 3 years are in "2 to 5 years". English and German. */
import { stem } from '../../../language/content-words.ts'

interface Quantity {
  value: number
  unit: string | undefined
}

export interface Amount extends Quantity {
  /** The number as the question writes it, in lower case, without and with its unit. */
  forms: readonly string[]
}

interface Cell {
  text: string
  /** Name of its column. */
  column: string
  quantities: ReturnType<typeof findQuantities>
}

/** In days, because tables mix months and years. Words for a unit of time begin with one of these. */
const DAYS = Object.entries({
  minute: 1 / 1440,
  hour: 1 / 24,
  stunde: 1 / 24,
  day: 1,
  tag: 1,
  week: 7,
  woche: 7,
  month: 365 / 12,
  monat: 365 / 12,
  year: 365,
  jahr: 365,
})
const MAX_AMOUNTS = 10
/** Longer cells are texts, not ranges. */
const MAX_CELL_LENGTH = 100
const MAX_CELLS = 50
/** A symbol, a number, a mark that it is the least, and a unit. */
const QUANTITY = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,])(?<!\p{L}-)(\p{Sc}?)\s?(\d[\d.,]{0,20})(\s?\+|\s(?:or|and)\smore(?=\s\p{L}))?` +
    String.raw`(?:\s?((?!(?:to|and|or|until|up|bis|und|oder)(?!\p{L}))\p{L}+|%|\p{Sc}))?`,
  'giu',
)
const BETWEEN = /^\s*(?:[-–—]|to|and|until|up to|bis|und)(?:\s(?:under|below|less than|up to))?\s*$/iu
/** Before or after the only quantity of a cell. */
const LIMITS: readonly [before: RegExp, after: RegExp | undefined, contains: (value: number, limit: number) => boolean][] = [
  [
    /(?:\b(?:up to|at most|until|max(?:imum|\.)?|(?:no|not) (?:more|longer|over) than|bis(?: zu)?|höchstens)|≤|<=)\s*$/iu,
    undefined,
    (value, limit) => value <= limit,
  ],
  [
    /(?:\b(?:at least|from|min(?:imum|\.)?|(?:no|not) less than|ab|mindestens)|≥|>=)\s*$/iu,
    /^\s*(?:(?:or|and) (?:more|above|over|older|longer)\b|und mehr\b)/iu,
    (value, limit) => value >= limit,
  ],
  [/(?:\b(?:under|below|less than|fewer than|unter)|<)\s*$/iu, undefined, (value, limit) => value < limit],
  [/(?:\b(?:over|above|more than|longer than)|(?<!\p{L})über|>)\s*$/iu, undefined, (value, limit) => value > limit],
]

export const findAmounts = (question: string): Amount[] =>
  findQuantities(question)
    .filter(({ unit }) => unit !== undefined)
    .slice(0, MAX_AMOUNTS)
    .map(({ text, number, value, unit }) => ({ value, unit, forms: [number, text.replaceAll(/\s/g, '').toLowerCase()] }))

/**
 * Returns the amounts that are in a range of the row.
 * @param header names the units that the row does not.
 */
export function listAmountsInRange(row: string, header: string, amounts: readonly Amount[]): Amount[] {
  const columns = header.split('|', MAX_CELLS)
  const cells = row.split('|', MAX_CELLS).map((text, index) => ({
    text,
    column: columns[index]?.slice(0, MAX_CELL_LENGTH) ?? '',
    quantities: text.length > MAX_CELL_LENGTH ? [] : findQuantities(text),
  }))
  return amounts.filter((amount) => cells.some((cell) => isInRange(amount, cell)))
}

function isInRange({ value, unit }: Amount, { text, column, quantities: [first, second, third] }: Cell): boolean {
  if (!first || third) return false
  const isUnit = (quantity: Quantity) => (quantity.unit === undefined ? namesUnit(column, unit) : quantity.unit === unit)
  if (second) {
    // "2 to 5 years"
    const from = first.unit === undefined ? convert(first.plain, second.name) : first
    const isRange = BETWEEN.test(text.slice(first.end, second.start))
    return isRange && isUnit(from) && isUnit(second) && from.value <= value && value <= second.value
  }
  if (first.isLeast) return isUnit(first) && value >= first.value
  const [before, after] = [text.slice(0, first.start), text.slice(first.end)]
  const [, , contains] = LIMITS.find(([start, end]) => start.test(before) || end?.test(after)) ?? []
  return contains !== undefined && isUnit(first) && contains(value, first.value)
}

const namesUnit = (column: string, unit: string | undefined): boolean =>
  (column.match(/\p{L}+|%|\p{Sc}/gu) ?? []).some((name) => readUnit(name) === unit)

function findQuantities(text: string) {
  return [...text.matchAll(QUANTITY)].map((match) => {
    const [whole, symbol = '', number = '', least, word] = match
    const plain = parseNumber(number)
    const name = word ?? (symbol || undefined)
    const [start, end] = [match.index, match.index + whole.length]
    return { text: whole, number, plain, name, start, end, isLeast: least !== undefined, ...convert(plain, name) }
  })
}

const findTime = (name: string | undefined) => DAYS.find(([unit]) => name?.toLowerCase().startsWith(unit) && name.length <= unit.length + 2)

const convert = (value: number, name: string | undefined): Quantity => ({ value: value * (findTime(name)?.[1] ?? 1), unit: readUnit(name) })

const readUnit = (name: string | undefined): string | undefined => (findTime(name) ? 'day' : name && stem(name.toLowerCase()))

/** Reads 1,000 and 1.000 as a thousand, and 1,5 and 1.5 as one and a half. */
const parseNumber = (number: string): number =>
  Number(
    number
      .replaceAll(/[.,](?=\d{3}(?!\d))/g, '')
      .replace(',', '.')
      .replace(/\.$/, ''),
  )
