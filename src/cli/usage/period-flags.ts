/** From when to when a report is, as flags say it. */
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
    description: `The last so many days, today included; ${DEFAULT_DAYS} unless dates are given.`,
  }),
  from: string({ description: 'First day, such as 2026-01-31, or moment, such as 2026-01-31T09:30Z; days are UTC.', helpValue: '<date>' }),
  to: string({ description: 'Last day or moment, included.', helpValue: '<date>' }),
}

export interface PeriodFlags {
  days?: number | undefined
  from?: string | undefined
  to?: string | undefined
}

export interface ReportPeriod {
  query: { start_date?: string; end_date?: string }
  /** As a heading says it. */
  title: string
}

export function parsePeriod({ days, from, to }: PeriodFlags, now = new Date()): ReportPeriod {
  for (const [flag, date] of Object.entries({ from, to }))
    if (date !== undefined && (!DATE.test(date) || Number.isNaN(Date.parse(date))))
      throw new UsageError(`--${flag} ${date} is no date.`, 'Write it as 2026-01-31, or with a time as 2026-01-31T09:30Z.')
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
  /** Says which rows are left out, since nothing was before the first. */
  omitted: string | undefined
}

/** Rows a day, or a month where there are many days, from the first on which something was. */
export function groupDays<T extends { date: string }>(
  days: readonly T[],
  plus: (one: T, other: T) => T,
  isEmpty: (day: T) => boolean,
): GroupedDays<T> {
  const { unit, rows } = groupByMonth(days, plus)
  const first = rows.findIndex((row) => !isEmpty(row))
  // One line says no less than the sentence in its place would.
  if (first < 2) return { unit, rows, omitted: undefined }
  return { unit, rows: rows.slice(first), omitted: `Nothing from ${rows[0]?.date} to ${rows[first - 1]?.date}.` }
}

/** A year a day a line is no picture any more. */
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
