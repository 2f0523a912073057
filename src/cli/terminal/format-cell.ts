/** Formats one value of a resource for tables and records. */
import { sanitizeLine, sanitizeText } from './text.ts'

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(\.\d+)?Z$/

/** Formats a value for a table: on one line, times to the minute. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return sanitizeLine(value.replace(TIMESTAMP, '$1 $2'))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? sanitizeLine(value.join(', ')) : String(value.length)
  return sanitizeLine(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Formats a value for a record: text keeps its lines, objects are listed by field. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'string') return sanitizeText(value) || '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(formatItem).join('\n')
  if (typeof value === 'object') return sanitizeText(formatEntries(value)) || '–'
  return String(value)
}

function formatItem(value: unknown): string {
  if (typeof value !== 'object' || value === null) return sanitizeLine(String(value))
  return sanitizeText(formatEntries(value, '; '))
}

function formatEntries(value: object, separator = '\n'): string {
  const shown = Object.entries(value).filter(([, field]) => field !== null && field !== '')
  return shown.map(([name, field]) => `${name}: ${typeof field === 'object' ? JSON.stringify(field) : String(field)}`).join(separator)
}
