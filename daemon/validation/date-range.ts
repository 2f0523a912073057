/** Date ranges of requests, split into whole days and months (UTC). */
import { createValidationError } from '../../src/contract/errors.ts'

const DAY_MS = 86_400_000
const MIDNIGHT = 'T00:00:00.000Z'
/** Sorts after every ISO timestamp with a four-digit year. */
const MAX_INSTANT = '9999-99'

/** A half-open range: `until` is excluded. An open start is the empty string, an open end sorts last. */
export interface DateRange {
  from: string
  until: string
}

/** Throws VALIDATION_ERROR if the range ends before it starts. An end date includes the whole day, an end time its millisecond. */
export function parseDateRange({ start_date, end_date }: { start_date?: string; end_date?: string }): DateRange {
  const from = start_date === undefined ? '' : formatInstant(Date.parse(start_date))
  const until = end_date === undefined ? MAX_INSTANT : formatInstant(Date.parse(end_date) + (end_date.length === 10 ? DAY_MS : 1))
  if (from >= until) throw createValidationError('start_date', 'must not be after end_date')
  return { from, until }
}

/** Years after 9999 are formatted with a sign, which would sort first. */
const formatInstant = (time: number) => (time < Date.UTC(10_000, 0) ? new Date(time).toISOString() : MAX_INSTANT)

const isPartialDay = (moment: string) => moment.length > 10 && !moment.endsWith(MIDNIGHT)
const toDay = (moment: string) => moment.slice(0, 10)
const toMonth = (moment: string) => moment.slice(0, 7)
const nextMonth = (moment: string) => toMonth(formatInstant(Date.parse(`${toMonth(moment)}-01`) + 31 * DAY_MS))
const nextDay = (day: string): string => formatInstant(Date.parse(toDay(day)) + DAY_MS).slice(0, 10)

/** Splits a range into whole days and the partial days at its ends. */
export function splitWholeDays({ from, until }: DateRange): { days: DateRange; pieces: DateRange[] } {
  const first = isPartialDay(from) ? nextDay(from) : toDay(from)
  const last = toDay(until)
  if (first > last) return { days: { from: first, until: first }, pieces: [{ from, until }] }
  const pieces: DateRange[] = []
  if (isPartialDay(from)) pieces.push({ from, until: `${first}${MIDNIGHT}` })
  if (isPartialDay(until)) pieces.push({ from: `${last}${MIDNIGHT}`, until })
  return { days: { from: first, until: last }, pieces }
}

/** Splits whole days into whole months (such as 2026-01) and the days around them. */
export function splitWholeMonths({ from, until }: DateRange): { months: DateRange; days: DateRange[] } {
  const first = from === '' || from.endsWith('-01') ? toMonth(from) : nextMonth(from)
  const last = toMonth(until)
  if (first >= last) return { months: { from: first, until: first }, days: [{ from, until }] }
  const days = [
    { from, until: `${first}-01` },
    { from: `${last}-01`, until },
  ]
  return { months: { from: first, until: last }, days: days.filter((span) => span.from !== '' && span.from < span.until) }
}

/** Longer series leave out empty days. */
const MAX_SERIES_DAYS = 366

/** Lists every day of the range, or from the first used day until today if the range is open. Longer series contain used days only. */
export function listSeriesDays({ from, until }: DateRange, used: readonly string[], today: string): readonly string[] {
  const first = from === '' ? used[0] : toDay(from)
  if (first === undefined) return used
  const end = until === MAX_INSTANT ? nextDay(today) : isPartialDay(until) ? nextDay(until) : toDay(until)
  const days: string[] = []
  for (let day = first; day < end; day = nextDay(day)) {
    if (days.length === MAX_SERIES_DAYS) return used
    days.push(day)
  }
  return [...new Set([...days, ...used])].sort()
}
