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
const QUANTITY =
  /(?<![\p{L}\p{N}.,])(?<!\p{L}-)(\p{Sc}?)\s?(\d[\d.,]*)(?:\s?((?!(?:to|and|or|until|up|bis|und|oder)(?!\p{L}))\p{L}+|%|\p{Sc}))?/giu
const BETWEEN = /^\s*(?:[-–—]|to|and|until|up to|bis|und)\s*$/iu
/** Before or after the only quantity of a cell. */
const LIMITS: readonly [before: RegExp, after: RegExp | undefined, contains: (value: number, limit: number) => boolean][] = [
  [/(?:\b(?:under|below|less than|fewer than|unter)|<)\s*$/iu, undefined, (value, limit) => value < limit],
  [/(?:\b(?:up to|at most|until|max(?:imum|\.)?|bis(?: zu)?|höchstens)|≤)\s*$/iu, undefined, (value, limit) => value <= limit],
  [/(?:\b(?:over|above|more than)|(?<!\p{L})über|>)\s*$/iu, undefined, (value, limit) => value > limit],
  [
    /(?:\b(?:at least|from|min(?:imum|\.)?|ab|mindestens)|≥)\s*$/iu,
    /^\s*(?:\+|(?:or|and) (?:more|above|over|older)\b|und mehr\b)/iu,
    (value, limit) => value >= limit,
  ],
]

export const findAmounts = (question: string): Amount[] =>
  findQuantities(question)
    .filter(({ unit }) => unit !== undefined)
    .slice(0, MAX_AMOUNTS)
    .map(({ text, number, value, unit }) => ({ value, unit, forms: [number, text.replaceAll(/\s/g, '').toLowerCase()] }))

/** @param header names the unit if the row does not. */
export const isInRange = (row: string, header: string, amount: Amount): boolean =>
  row.split('|').some((cell) => containsAmount(cell, header, amount))

function containsAmount(cell: string, header: string, { value, unit }: Amount): boolean {
  const [first, second, third] = findQuantities(cell)
  if (!first || third) return false
  const isUnit = (quantity: Quantity) => quantity.unit === unit || (quantity.unit === undefined && namesUnit(header, unit as string))
  if (second) {
    const from = { ...first, ...(first.unit === undefined ? convert(first.plain, second.name) : {}) }
    const isRange = BETWEEN.test(cell.slice(first.end, second.start))
    return isRange && isUnit(from) && isUnit(second) && from.value <= value && value <= second.value
  }
  const [before, after] = [cell.slice(0, first.start), cell.slice(first.end)]
  const [, , contains] = LIMITS.find(([start, end]) => start.test(before) || end?.test(after)) ?? []
  return contains !== undefined && isUnit(first) && contains(value, first.value)
}

const namesUnit = (header: string, unit: string): boolean => findUnits(header).includes(unit)

const findUnits = (text: string): string[] => (text.match(/\p{L}+|%|\p{Sc}/gu) ?? []).map((name) => convert(0, name).unit as string)

function findQuantities(text: string) {
  return [...text.matchAll(QUANTITY)].map((match) => {
    const [whole, symbol = '', number = '', word] = match
    const plain = parseNumber(number)
    const name = word ?? (symbol || undefined)
    return { text: whole, number, plain, name, start: match.index, end: match.index + whole.length, ...convert(plain, name) }
  })
}

function convert(value: number, name: string | undefined): Quantity {
  const lower = name?.toLowerCase()
  const time = DAYS.find(([unit]) => lower?.startsWith(unit))
  return time ? { value: value * time[1], unit: 'day' } : { value, unit: lower && stem(lower) }
}

/** Reads 1,000 and 1.000 as a thousand, and 1,5 and 1.5 as one and a half. */
const parseNumber = (number: string): number =>
  Number(
    number
      .replaceAll(/[.,](?=\d{3}(?!\d))/g, '')
      .replace(',', '.')
      .replace(/\.$/, ''),
  )
