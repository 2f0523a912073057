/** From one day or moment to another, as requests ask for it, and how it lies over days and months (UTC). */
import { createValidationError } from '../../src/contract/errors.ts'

const DAY_MS = 86_400_000
const MIDNIGHT = 'T00:00:00.000Z'
/** Sorts after every moment that is written with four digits of a year. */
const FOREVER = '9999-99'

/** From a moment up to another, which is not in it any more. Open ends are the empty text and one that sorts last. */
export interface Span {
  from: string
  until: string
}

/** Throws VALIDATION_ERROR where it ends before it begins. A last day is in it to its end, a last moment to its millisecond. */
export function dateRange({ start_date, end_date }: { start_date?: string; end_date?: string }): Span {
  const from = start_date === undefined ? '' : written(Date.parse(start_date))
  const until = end_date === undefined ? FOREVER : written(Date.parse(end_date) + (end_date.length === 10 ? DAY_MS : 1))
  if (from >= until) throw createValidationError('start_date', 'must not be after end_date')
  return { from, until }
}

/** A moment; past the year 9999 it would be written in a way that sorts before all others. */
const written = (time: number) => (time < Date.UTC(10_000, 0) ? new Date(time).toISOString() : FOREVER)

const isCut = (moment: string) => moment.length > 10 && !moment.endsWith(MIDNIGHT)
const dayOf = (moment: string) => moment.slice(0, 10)
const monthOf = (moment: string) => moment.slice(0, 7)
const monthAfter = (moment: string) => monthOf(written(Date.parse(`${monthOf(moment)}-01`) + 31 * DAY_MS))
export const dayAfter = (day: string): string => written(Date.parse(dayOf(day)) + DAY_MS).slice(0, 10)

/** The whole days of a span, named by their dates, and the pieces of days at its ends. */
export function wholeDays({ from, until }: Span): { days: Span; pieces: Span[] } {
  const first = isCut(from) ? dayAfter(from) : dayOf(from)
  const last = dayOf(until)
  if (first > last) return { days: { from: first, until: first }, pieces: [{ from, until }] }
  const pieces: Span[] = []
  if (isCut(from)) pieces.push({ from, until: `${first}${MIDNIGHT}` })
  if (isCut(until)) pieces.push({ from: `${last}${MIDNIGHT}`, until })
  return { days: { from: first, until: last }, pieces }
}

/** The whole months of some whole days, named as 2026-01, and the days before and after them. */
export function wholeMonths({ from, until }: Span): { months: Span; days: Span[] } {
  const first = from === '' || from.endsWith('-01') ? monthOf(from) : monthAfter(from)
  const last = monthOf(until)
  if (first >= last) return { months: { from: first, until: first }, days: [{ from, until }] }
  const days = [
    { from, until: `${first}-01` },
    { from: `${last}-01`, until },
  ]
  return { months: { from: first, until: last }, days: days.filter((span) => span.from !== '' && span.from < span.until) }
}

/** How many days a series shows before it leaves out those without anything. */
const LONGEST_SERIES = 366

/** Every day from the first to the last, where there are not too many: those of the range where it names them, else from the first with something until today. */
export function seriesDays({ from, until }: Span, used: readonly string[], today: string): readonly string[] {
  const first = from === '' ? used[0] : dayOf(from)
  if (first === undefined) return used
  const named = until === FOREVER ? dayAfter(today) : isCut(until) ? dayAfter(until) : dayOf(until)
  const days: string[] = []
  for (let day = first; day < named; day = dayAfter(day)) {
    if (days.length === LONGEST_SERIES) return used
    days.push(day)
  }
  return [...new Set([...days, ...used])].sort()
}
