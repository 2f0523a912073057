/** Flags that select the period of a report. */
import { integer, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { UsageError } from '../terminal/failures/command-errors.ts'

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/

export const periodFlags = {
  days: integer({
    min: 1,
    max: 36_500,
    exclusive: ['from', 'to'],
    description: `Number of days up to today (default: ${DEFAULT_DAYS}).`,
  }),
  from: string({ description: 'Start, as 2026-01-31 or 2026-01-31T09:30Z; days are UTC.', helpValue: '<date>' }),
  to: string({ description: 'End, inclusive.', helpValue: '<date>' }),
}

/** Returns the query of the request, and the title for the heading of the report. */
export function parsePeriod({ days, from, to }: Partial<InferredFlags<typeof periodFlags>>, now = new Date()) {
  for (const [flag, date] of Object.entries({ from, to }))
    if (date !== undefined && (!DATE.test(date) || Number.isNaN(Date.parse(date))))
      throw new UsageError(`--${flag} ${date} is not a date.`, 'Use a format such as 2026-01-31 or 2026-01-31T09:30Z.')
  if (from !== undefined || to !== undefined) {
    const query = { start_date: from, end_date: to }
    return {
      query,
      title: from === undefined ? `Until ${to}` : to === undefined ? `Since ${from}` : from === to ? from : `${from} to ${to}`,
    }
  }
  const count = days ?? DEFAULT_DAYS
  const date = (daysAgo: number) => new Date(now.getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10)
  const query = { start_date: date(count - 1), end_date: date(0) }
  return { query, title: count === 1 ? `Today, ${query.end_date}` : `Last ${count} days, ${query.start_date} to ${query.end_date}` }
}
