/** Flags that select the period of a report. */
import { integer, string } from '@oclif/core/flags'
import { UsageError } from '../terminal/errors.ts'

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/

export const periodFlags = {
  days: integer({
    min: 1,
    max: 36_500,
    exclusive: ['from', 'to'],
    description: `Show the last days, including today (default: ${DEFAULT_DAYS}).`,
  }),
  from: string({ description: 'Start, as 2026-01-31 or 2026-01-31T09:30Z; days are UTC.', helpValue: '<date>' }),
  to: string({ description: 'End, inclusive.', helpValue: '<date>' }),
}

export interface PeriodFlags {
  days?: number | undefined
  from?: string | undefined
  to?: string | undefined
}

export interface ReportPeriod {
  query: { start_date?: string; end_date?: string }
  /** Text for the heading of the report. */
  title: string
}

export function parsePeriod({ days, from, to }: PeriodFlags, now = new Date()): ReportPeriod {
  for (const [flag, date] of Object.entries({ from, to }))
    if (date !== undefined && (!DATE.test(date) || Number.isNaN(Date.parse(date))))
      throw new UsageError(`--${flag} ${date} is not a date.`, 'Use a format such as 2026-01-31 or 2026-01-31T09:30Z.')
  if (from !== undefined || to !== undefined) {
    const query = { ...(from === undefined ? {} : { start_date: from }), ...(to === undefined ? {} : { end_date: to }) }
    return {
      query,
      title: from === undefined ? `Until ${to}` : to === undefined ? `Since ${from}` : from === to ? from : `${from} to ${to}`,
    }
  }
  const long = days ?? DEFAULT_DAYS
  const date = (ago: number) => new Date(now.getTime() - ago * DAY_MS).toISOString().slice(0, 10)
  const query = { start_date: date(long - 1), end_date: date(0) }
  return { query, title: long === 1 ? `Today, ${query.end_date}` : `Last ${long} days, ${query.start_date} to ${query.end_date}` }
}

export interface GroupedDays<T> {
  unit: 'DAY' | 'MONTH'
  rows: readonly T[]
  /** Note about omitted empty rows at the start. */
  omitted: string | undefined
}

/** Groups long periods by month and omits empty rows at the start. */
export function groupDays<T extends { date: string }>(
  days: readonly T[],
  plus: (one: T, other: T) => T,
  isEmpty: (day: T) => boolean,
): GroupedDays<T> {
  const { unit, rows } = groupByMonth(days, plus)
  const first = rows.findIndex((row) => !isEmpty(row))
  // A single empty row is as short as the note that would replace it.
  if (first < 2) return { unit, rows, omitted: undefined }
  return { unit, rows: rows.slice(first), omitted: `No usage from ${rows[0]?.date} to ${rows[first - 1]?.date}.` }
}

/** Longer periods are shown by month. */
const MAX_DAY_ROWS = 62

function groupByMonth<T extends { date: string }>(
  days: readonly T[],
  plus: (one: T, other: T) => T,
): Pick<GroupedDays<T>, 'unit' | 'rows'> {
  if (days.length <= MAX_DAY_ROWS) return { unit: 'DAY', rows: days }
  const months = new Map<string, T>()
  for (const day of days) {
    const date = day.date.slice(0, 7)
    const known = months.get(date)
    months.set(date, { ...(known ? plus(known, day) : day), date })
  }
  return { unit: 'MONTH', rows: [...months.values()] }
}
