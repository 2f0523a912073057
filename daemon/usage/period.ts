/** The day or month (UTC) that a threshold counts over. */

export interface Period {
  kind: 'day' | 'month'
  /** First day. */
  start: string
  /** First day after it. */
  end: string
}

const day = (time: number) => new Date(time).toISOString().slice(0, 10)

export function periodOf(kind: Period['kind'], at: string): Period {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (kind === 'day') return { kind, start: day(date.getTime()), end: day(Date.UTC(year, month, date.getUTCDate() + 1)) }
  return { kind, start: day(Date.UTC(year, month)), end: day(Date.UTC(year, month + 1)) }
}
