/** Names the periods that depend on the day of a question: "last month" is "in October 2026". The answer shows which dates were used. */
import { formatYearMonth, WEEKDAY_NAMES } from '../cells/parse-cell.ts'

const UNITS = 'year|quarter|month|week'
const PERIOD = new RegExp(
  String.raw`\b(?:(?:in|during|for|of|over) )?(?:the )?(this|current|last|previous|next) (${UNITS})(['’]s)?\b`,
  'gi',
)
const SPAN = /\b(?:(?:in|during|for|over|within) )?(?:the )?(?:last (?=\d)|past )(\d{0,3}) ?(day|week|month|quarter|year)s?\b/gi
const DAY = /\b(?:on )?(yesterday|tomorrow)(['’]s)?\b/gi
const WEEKDAY = new RegExp(String.raw`\b(?:on )?(last|this|next) (${WEEKDAY_NAMES.join('|')})(['’]s)?\b`, 'gi')
const OFFSETS: Readonly<Record<string, number>> = { last: -1, previous: -1, next: 1 }
const DAY_MS = 86_400_000

/** Whether a text names such a period. A column may be called "Sold last week". */
export const namesPeriod = (text: string): boolean => [PERIOD, SPAN, DAY, WEEKDAY].some((pattern) => text.search(pattern) >= 0)

/** `today` is an ISO date. */
export function namePeriods(question: string, today: string): string {
  const now = new Date(today)
  return question
    .replaceAll(PERIOD, (_, word: string, unit: string, possessive?: string) => {
      const period = formatPeriod(unit.toLowerCase(), OFFSETS[word.toLowerCase()] ?? 0, now)
      // "Last year's revenue" is the revenue of that year.
      return possessive ? period.replace(/^in /, '') : period
    })
    .replaceAll(SPAN, (_, count: string, unit: string) => {
      const from = goBack(now, Number(count || 1), unit.toLowerCase())
      return `from ${formatDay(from)} to ${formatDay(now)}`
    })
    .replaceAll(DAY, (_, word: string) => `on ${formatDay(addDays(now, word.toLowerCase() === 'yesterday' ? -1 : 1))}`)
    .replaceAll(WEEKDAY, (_, word: string, name: string) => {
      const ahead = (WEEKDAY_NAMES.indexOf(name.toLowerCase()) - now.getUTCDay() + 7) % 7 || 7
      return `on ${formatDay(addDays(now, word.toLowerCase() === 'last' ? ahead - 7 || -7 : ahead))}`
    })
}

function formatPeriod(unit: string, offset: number, now: Date): string {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  if (unit === 'year') return `in ${year + offset}`
  if (unit === 'month') return `in ${formatYearMonth(new Date(Date.UTC(year, month + offset, 1)).toISOString().slice(0, 7))}`
  if (unit === 'quarter') {
    const quarter = Math.floor(month / 3) + offset
    return `in Q${((quarter + 4) % 4) + 1} ${year + Math.floor(quarter / 4)}`
  }
  const monday = addDays(now, 7 * offset - ((now.getUTCDay() + 6) % 7))
  return `from ${formatDay(monday)} to ${formatDay(addDays(monday, 6))}`
}

function goBack(now: Date, count: number, unit: string): Date {
  if (unit === 'day' || unit === 'week') return addDays(now, -count * (unit === 'week' ? 7 : 1))
  const months = count * (unit === 'year' ? 12 : unit === 'quarter' ? 3 : 1)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, now.getUTCDate()))
}

const addDays = (date: Date, days: number): Date => new Date(date.getTime() + days * DAY_MS)
const formatDay = (date: Date): string => date.toISOString().slice(0, 10)
