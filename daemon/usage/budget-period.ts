/** The period of a budget: a day or month in UTC. */

export interface Period {
  kind: 'day' | 'month'
  /** First day. */
  start: string
  /** First day after the period. */
  end: string
}

const formatDay = (time: number) => new Date(time).toISOString().slice(0, 10)

export function getPeriod(kind: Period['kind'], at: string): Period {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (kind === 'day') return { kind, start: formatDay(date.getTime()), end: formatDay(Date.UTC(year, month, date.getUTCDate() + 1)) }
  return { kind, start: formatDay(Date.UTC(year, month)), end: formatDay(Date.UTC(year, month + 1)) }
}
