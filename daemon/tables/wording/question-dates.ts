/** Finds the dates of a question: years, months, days, quarters, weekdays, seasons, and ranges of them. */

import { MONTH_NAMES, parseDate, readMonth, WEEKDAY_NAMES } from '../cells/parse-cell.ts'
import { findComparison, readOrdinal } from './comparisons.ts'
import type { DateMention, Span, Word } from './mentions.ts'

const MONTH_ABBREVIATIONS: ReadonlySet<string> = new Set(['jan', 'feb', 'apr', 'aug', 'sep', 'sept', 'oct', 'nov', 'dec'])

export const isYear = (number: number | undefined): number is number =>
  number !== undefined && Number.isInteger(number) && number >= 1500 && number <= 2100
const isDay = (number: number | undefined): number is number =>
  number !== undefined && Number.isInteger(number) && number >= 1 && number <= 31

export function findDates(words: readonly Word[]): DateMention[] {
  const mentions: DateMention[] = []
  const add = (span: Span, bounds: Pick<DateMention, 'from' | 'to' | 'months'>) => {
    const compared = findComparison(words, span.start, span.end)
    const day = bounds.to.endsWith('~') ? { isDay: true as const } : {}
    if (compared && bounds.from !== '') mentions.push({ ...bounds, ...compared, ...day })
    mentions.push({ ...bounds, ...span, comparison: 'equal', ...day })
  }
  for (const [index, { text, number }] of words.entries()) {
    const iso = /^\d{4}-\d{2}-\d{2}$/.test(text)
      ? text
      : /^\d+[./]\d+[./]\d{4}$/.test(text)
        ? parseDate(text, text.includes('.'))?.iso
        : undefined
    if (iso !== undefined) add({ start: index, end: index + 1 }, getDayBounds(iso))
    if (isYear(number) && !text.includes(',')) {
      add({ start: index, end: index + 1 }, { from: text, to: String(number + 1) })
      const upper = words[index + 2]?.number
      if (isYear(upper) && ['and', 'to', 'through', 'until'].includes(words[index + 1]?.text ?? ''))
        mentions.push({ start: Math.max(0, index - 1), end: index + 3, from: text, to: String(upper + 1), comparison: 'equal' })
    }
    const period = findPeriod(words, index)
    if (period) add(period, period)
    const weekdays = readWeekdays(text)
    if (weekdays) mentions.push({ start: index, end: index + 1, from: '', to: '', weekdays, comparison: 'equal' })
    const month = /^[a-z]{3,9}$/.test(text) ? readFullMonth(text) : 0
    if (month === 0) continue
    const [previous, next, second] = [words[index - 1]?.number, words[index + 1]?.number, words[index + 2]?.number]
    const pad = (number: number) => String(number).padStart(2, '0')
    if (isDay(previous) && isYear(next)) add({ start: index - 1, end: index + 2 }, getDayBounds(`${next}-${pad(month)}-${pad(previous)}`))
    else if (isYear(next)) add({ start: index, end: index + 2 }, getMonthBounds(next, month))
    else if (isDay(next) && isYear(second)) add({ start: index, end: index + 3 }, getDayBounds(`${second}-${pad(month)}-${pad(next)}`))
    else if (isDay(next)) add({ start: index, end: index + 2 }, getDayBounds(`0000-${pad(month)}-${pad(next)}`))
    else if (isDay(previous)) add({ start: index - 1, end: index + 1 }, getDayBounds(`0000-${pad(month)}-${pad(previous)}`))
    else add({ start: index, end: index + 1 }, { from: '', to: '', months: [month] })
  }
  return joinRanges(words, mentions)
}

/** "Between 15 March and 15 April 2025", "from March to May 2025": the first date may have the year of the second. */
function joinRanges(words: readonly Word[], mentions: readonly DateMention[]): DateMention[] {
  const single = mentions.filter(({ comparison, from, months }) => comparison === 'equal' && (from !== '' || months?.length === 1))
  const ranges = single.flatMap((first) =>
    single.flatMap((second): DateMention[] => {
      const isNext = second.start === first.end + 1 && ['and', 'to', 'until', 'through'].includes(words[first.end]?.text ?? '')
      const hasStart = ['between', 'from'].includes(words[first.start - 1]?.text ?? '')
      const year = /^[1-9]\d{3}/.exec(second.from)?.[0]
      if (!isNext || !hasStart || year === undefined) return []
      const from = first.months?.[0] === undefined ? first.from.replace(/^0000/, year) : getMonthBounds(Number(year), first.months[0]).from
      return [{ start: first.start - 1, end: second.end, from, to: second.to, isDay: true, comparison: 'equal' }]
    }),
  )
  const isInside = (inner: Span, outer: Span) => inner.start >= outer.start && inner.end <= outer.end
  // "2025" in "15 March 2025" is no date of its own.
  const longer = [...ranges, ...mentions.filter(({ isDay }) => isDay)]
  const isPart = (mention: DateMention) =>
    longer.some((other) => isInside(mention, other) && !(mention.isDay && other.from === mention.from))
  return [...ranges, ...mentions.filter((mention) => !isPart(mention))]
}

const PERIODS = [
  { letter: 'q', name: 'quarter', length: 3 },
  { letter: 'h', name: 'half', length: 6 },
]

/** "Q1 2024", "the first quarter of 2024" and "the second half of 2024", also without a year. */
function findPeriod(words: readonly Word[], index: number): (Span & Pick<DateMention, 'from' | 'to' | 'months'>) | undefined {
  const [text, next] = [words[index]?.text ?? '', words[index + 1]]
  const at = [index + 2, index + 3].find((position) => isYear(words[position]?.number))
  const year = at === undefined ? undefined : words[at]?.number
  for (const { letter, name, length } of PERIODS) {
    const position = text === letter ? next?.number : next?.text === name ? readOrdinal(text) : undefined
    if (position === undefined || position < 1 || position * length > 12) continue
    const months = Array.from({ length: length }, (_, offset) => (position - 1) * length + 1 + offset)
    if (at === undefined || year === undefined) return { start: index, end: index + 2, from: '', to: '', months }
    const bounds = [months[0] as number, months.at(-1) as number].map((month) => getMonthBounds(year, month))
    return { start: index, end: at + 1, from: bounds[0]?.from ?? '', to: bounds[1]?.to ?? '' }
  }
  return undefined
}

/** The days of "Monday", "Fridays" and "weekends". */
function readWeekdays(text: string): readonly number[] | undefined {
  if (/^weekends?$/.test(text)) return [0, 6]
  const day = WEEKDAY_NAMES.indexOf(text.replace(/s$/, ''))
  return day < 0 ? undefined : [day]
}

/** Whole names, and abbreviations that are no words: "Marco" is no month. */
function readFullMonth(text: string): number {
  return MONTH_NAMES.includes(text) || MONTH_ABBREVIATIONS.has(text) ? readMonth(text) : 0
}

const getDayBounds = (iso: string) => ({ from: iso, to: `${iso}~` })
const getMonthBounds = (year: number, month: number) => ({
  from: `${year}-${String(month).padStart(2, '0')}`,
  to: month === 12 ? String(year + 1) : `${year}-${String(month + 1).padStart(2, '0')}`,
})

/** Of the northern hemisphere, as months; the winter of a year begins in its December. */
const SEASONS: ReadonlyMap<string, readonly [number, number, number]> = new Map([
  ['spring', [3, 4, 5]],
  ['summer', [6, 7, 8]],
  ['autumn', [9, 10, 11]],
  ['winter', [12, 1, 2]],
])
const YEAR_WORD = /^(?:19|20)\d\d$/

/** Finds "in spring" and "the summer of 2025": months, or the first month and the first one after it if a year is given. */
export function findSeasons(words: readonly Word[]): DateMention[] {
  return words.flatMap(({ text }, start): DateMention[] => {
    const months = SEASONS.get(text)
    const next = words[start + 1]
    // A "summer party" is no season.
    if (!months || (next !== undefined && !next.isStop && next.number === undefined)) return []
    const at = [start + 1, start + 2].find((index) => YEAR_WORD.test(words[index]?.text ?? ''))
    if (at === undefined) return [{ start, end: start + 1, from: '', to: '', months, comparison: 'equal' }]
    const [first, , last] = months
    const year = Number(words[at]?.text)
    const format = (month: number, ofYear: number) => `${ofYear}-${String(month).padStart(2, '0')}`
    const to = format(last + 1, last < first ? year + 1 : year)
    return [{ start, end: at + 1, from: format(first, year), to, comparison: 'equal' }]
  })
}
