/** Formats the dates and times of a workbook, which are numbers of days. */

export interface DateToken {
  unit: 'year' | 'month' | 'day' | 'hour' | 'second' | 'half'
  length: number
  /** Decimals of seconds. */
  decimals: number
  /** Counts all hours, minutes or seconds instead of those of the day: [h]:mm. */
  isElapsed: boolean
}

const UNITS: Record<string, DateToken['unit']> = { y: 'year', e: 'year', m: 'month', d: 'day', h: 'hour', s: 'second', a: 'half' }
const MS_PER_DAY = 86_400_000
/** Day 0 of the two date systems. Excel counts 29 February 1900, which did not exist. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)
/** 31 December 9999. */
const MAX_DAYS = 2_958_465

export function parseDateToken(text: string): DateToken {
  const [name = '', decimals = ''] = text.toLowerCase().split('.')
  return { unit: UNITS[name[0] ?? ''] ?? 'day', length: name.length, decimals: decimals.length, isElapsed: false }
}

/** Returns the date as ISO 8601: a date, a time, or both; undefined if the number is no date. */
export function toIsoDate(value: number, isDate1904: boolean): string | undefined {
  const date = toDate(value, isDate1904)
  if (!date) return undefined
  const text = date.toISOString().replace(/(?:\.000)?Z$/, '')
  if (value < 1 && value > 0) return text.slice(11)
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text
}

function toDate(value: number, isDate1904: boolean): Date | undefined {
  if (!(value >= 0 && value <= MAX_DAYS)) return undefined
  const days = !isDate1904 && value > 0 && value < 60 ? value + 1 : value
  // Milliseconds, because times are inexact fractions of a day.
  return new Date((isDate1904 ? EPOCH_1904 : EPOCH_1900) + Math.round(days * MS_PER_DAY))
}

/** Returns a function that formats numbers by the parts of a format: units, and the text between them. */
export function compileDate(parts: readonly (DateToken | string)[], locale: string): (value: number, isDate1904: boolean) => string {
  const tokens = parts.filter((part) => typeof part === 'object')
  const isElapsed = tokens.some((token) => token.isElapsed)
  const hasDecimals = tokens.some(({ decimals }) => decimals > 0)
  const is12Hours = tokens.some(({ unit }) => unit === 'half')
  const units = parts.map((part, index): Unit | string => {
    if (typeof part === 'string') return part
    return { ...part, isMinute: part.unit === 'month' && part.length <= 2 && isBesideTime(parts, index), is12Hours }
  })
  return (value, isDate1904) => {
    const date = toDate(isElapsed ? Math.abs(value) % 1 : value, isDate1904)
    if (!date) return String(value)
    // Without decimals, seconds are rounded; otherwise 59.9996 would be shown as 59.
    const shown = hasDecimals ? date : new Date(Math.round(date.getTime() / 1000) * 1000)
    let text = isElapsed && value < 0 ? '-' : ''
    for (const unit of units) {
      if (typeof unit === 'string') text += unit
      else text += unit.isElapsed ? formatElapsed(Math.abs(value), unit) : formatUnit(shown, unit, locale)
    }
    return text
  }
}

/** m means minutes after hours or before seconds. */
function isBesideTime(parts: readonly (DateToken | string)[], index: number): boolean {
  const isUnit = (part: DateToken | string | undefined, unit: string) => typeof part === 'object' && part.unit === unit
  const before = parts.slice(0, index).findLast((part) => typeof part === 'object')
  const after = parts.slice(index + 1).find((part) => typeof part === 'object')
  return isUnit(before, 'hour') || isUnit(after, 'second')
}

function formatElapsed(value: number, { unit, length }: DateToken): string {
  const perDay = unit === 'hour' ? 24 : unit === 'month' ? 1440 : 86_400
  return String(Math.floor(value * perDay + 1e-6)).padStart(length, '0')
}

interface Unit extends DateToken {
  isMinute: boolean
  is12Hours: boolean
}

function formatUnit(date: Date, { unit, length, decimals, isMinute, is12Hours }: Unit, locale: string): string {
  const pad = (value: number) => String(value).padStart(Math.min(length, 2), '0')
  switch (unit) {
    case 'year':
      return length <= 2 ? String(date.getUTCFullYear() % 100).padStart(2, '0') : String(date.getUTCFullYear())
    case 'month':
      if (isMinute) return pad(date.getUTCMinutes())
      return length <= 2 ? pad(date.getUTCMonth() + 1) : formatName(date, locale, 'month', length === 4 ? 'long' : 'short')
    case 'day':
      return length <= 2 ? pad(date.getUTCDate()) : formatName(date, locale, 'weekday', length === 4 ? 'long' : 'short')
    case 'hour': {
      const hour = date.getUTCHours()
      return pad(is12Hours ? hour % 12 || 12 : hour)
    }
    case 'second':
      return pad(date.getUTCSeconds()) + (decimals > 0 ? `.${String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, decimals)}` : '')
    default:
      return date.getUTCHours() < 12 ? 'AM' : 'PM'
  }
}

/** At most 28, for seven languages. Creating one takes about a millisecond, which counts in a sheet of 200,000 rows. */
const FORMATTERS = new Map<string, Intl.DateTimeFormat>()

function formatName(date: Date, locale: string, field: 'month' | 'weekday', length: 'long' | 'short'): string {
  const key = `${locale} ${field} ${length}`
  let formatter = FORMATTERS.get(key)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat(locale, { [field]: length, timeZone: 'UTC' })
    FORMATTERS.set(key, formatter)
  }
  return formatter.format(date)
}
