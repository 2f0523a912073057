/** Reads calendars (iCalendar): each event and task is a section. */
import { formatDay } from '../format-day.ts'
import { joinTexts, type ParsedDocument } from '../parsed-document.ts'
import { type ContentLine, decodeValue, getParameter, readContentLines } from './content-lines.ts'

const ENTRIES: Record<string, string> = { VEVENT: 'Event', VTODO: 'Task', VJOURNAL: 'Note' }
const MAX_ATTENDEES = 100
const FREQUENCIES: Record<string, string> = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' }
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export function readCalendar(source: string): ParsedDocument | undefined {
  let title: string | null = null
  let entry: { kind: string; fields: Map<string, ContentLine[]> } | undefined
  /** Alarms and time zones are not entries. */
  let depth = 0
  const sections: string[] = []
  for (const line of readContentLines(source)) {
    const { name, value } = line
    if (name === 'BEGIN') {
      if (entry) depth++
      else if (ENTRIES[value.toUpperCase()] !== undefined) entry = { kind: value.toUpperCase(), fields: new Map() }
    } else if (name === 'END') {
      if (entry && depth > 0) depth--
      else if (entry && value.toUpperCase() === entry.kind) {
        sections.push(formatEntry(entry.kind, entry.fields))
        entry = undefined
      }
    } else if (entry && depth === 0) entry.fields.set(name, [...(entry.fields.get(name) ?? []), line].slice(0, MAX_ATTENDEES))
    else if (name === 'X-WR-CALNAME') title ??= decodeValue(value).slice(0, 300) || null
  }
  if (sections.length === 0) return undefined
  return { text: [...(title === null ? [] : [`# ${title}`]), ...sections].join('\n\n'), format: 'markdown', pages: [], title }
}

function formatEntry(kind: string, fields: Map<string, ContentLine[]>): string {
  const get = (name: string) => decodeValue(fields.get(name)?.[0]?.value ?? '')
  const lines: [string, string][] = [
    ['When', formatPeriod(fields)],
    ['Due', formatTime(fields.get('DUE')?.[0])],
    ['Repeats', formatRule(get('RRULE'))],
    ['Where', get('LOCATION').replaceAll('\n', ', ')],
    ['Organizer', formatPerson(fields.get('ORGANIZER')?.[0])],
    ['Attendees', (fields.get('ATTENDEE') ?? []).map(formatPerson).join(', ')],
    ['Status', get('STATUS').toLowerCase()],
    ['Categories', get('CATEGORIES')],
    ['Link', get('URL')],
  ]
  const details = lines.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`)
  const heading = get('SUMMARY').replaceAll(/\s+/g, ' ') || (ENTRIES[kind] ?? '')
  return joinTexts([`## ${heading}`, details.join('\n'), get('DESCRIPTION')], '\n\n')
}

function formatPeriod(fields: Map<string, ContentLine[]>): string {
  const start = fields.get('DTSTART')?.[0]
  const end = fields.get('DTEND')?.[0]
  const from = formatTime(start)
  if (!start || !end) return from
  // The end of a whole day is the next day.
  if (/^\d{8}$/.test(end.value) && nextDay(start.value) === end.value) return from
  const to = formatTime(end)
  const isSameDay = start.value.slice(0, 8) === end.value.slice(0, 8)
  return isSameDay ? `${from.replace(/ \([^()]*\)$/, '')}–${to.slice(to.lastIndexOf(', ') + 2)}` : `${from} – ${to}`
}

const nextDay = (day: string): string =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6, 8)) + 1))
    .toISOString()
    .slice(0, 10)
    .replaceAll('-', '')

/** Returns `Tuesday, 5 March 2024, 10:00 (Europe/Berlin)`. */
function formatTime(line: ContentLine | undefined): string {
  const [, year, month, day, hour, minute, utc] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d*(Z)?)?/.exec(line?.value ?? '') ?? []
  if (year === undefined) return line?.value ?? ''
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const label = formatDay(date)
  const zone = utc ? 'UTC' : getParameter(line?.parameters ?? '', 'TZID')
  return hour === undefined ? label : `${label}, ${hour}:${minute}${zone ? ` (${zone})` : ''}`
}

function formatRule(rule: string): string {
  const parts = new Map(rule.split(';').map((part) => part.split('=', 2) as [string, string]))
  const unit = FREQUENCIES[parts.get('FREQ') ?? '']
  if (unit === undefined) return rule
  const interval = Number(parts.get('INTERVAL') ?? 1)
  // "2TU" is the second Tuesday.
  const codes = (parts.get('BYDAY') ?? '').split(',').map((day) => day.slice(-2))
  const days = joinTexts(
    codes.map((code) => DAYS.find((day) => day.slice(0, 2).toUpperCase() === code) ?? ''),
    ', ',
  )
  const until = parts.get('UNTIL')
  const texts = [
    interval > 1 ? `every ${interval} ${unit}s` : `every ${unit}`,
    days === '' ? '' : `on ${days}`,
    parts.has('COUNT') ? `${parts.get('COUNT')} times` : '',
    until ? `until ${formatTime({ name: 'UNTIL', parameters: '', value: until.slice(0, 8) })}` : '',
  ]
  return joinTexts(texts, ' ')
}

function formatPerson(line: ContentLine | undefined): string {
  if (!line) return ''
  const address = line.value.replace(/^mailto:/i, '')
  const name = getParameter(line.parameters, 'CN')
  return name && name !== address ? `${name} <${address}>` : address
}
