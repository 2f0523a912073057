/** Groups the days of a report for a chart. */

/** Longer periods are shown by month. */
const MAX_DAY_ROWS = 62

/** Groups long periods by month and omits empty rows at the start, which the note `omitted` names. */
export function groupDays<T extends { date: string }>(days: readonly T[], add: (a: T, b: T) => T, isEmpty: (day: T) => boolean) {
  const unit = days.length > MAX_DAY_ROWS ? 'MONTH' : 'DAY'
  const rows = unit === 'MONTH' ? groupByMonth(days, add) : days
  const first = rows.findIndex((row) => !isEmpty(row))
  // A single empty row is as short as the note that would replace it.
  if (first < 2) return { unit, rows, omitted: undefined }
  return { unit, rows: rows.slice(first), omitted: `No data from ${rows[0]?.date} to ${rows[first - 1]?.date}.` }
}

function groupByMonth<T extends { date: string }>(days: readonly T[], add: (a: T, b: T) => T): T[] {
  const months = new Map<string, T>()
  for (const day of days) {
    const date = day.date.slice(0, 7)
    const month = months.get(date)
    months.set(date, { ...(month ? add(month, day) : day), date })
  }
  return [...months.values()]
}
