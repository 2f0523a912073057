/** One value of a resource as people read it. */
import { oneLine, sanitizeText } from './text.ts'

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(\.\d+)?Z$/

/** Short, for a table: one line, minutes instead of milliseconds. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return oneLine(value.replace(TIMESTAMP, '$1 $2'))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? oneLine(value.join(', ')) : String(value.length)
  return oneLine(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Whole, for a page about one resource: texts keep their lines, structures are spelled out. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'string') return sanitizeText(value) || '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(formatItem).join('\n')
  if (typeof value === 'object') return sanitizeText(formatEntries(value)) || '–'
  return String(value)
}

function formatItem(value: unknown): string {
  if (typeof value !== 'object' || value === null) return oneLine(String(value))
  return sanitizeText(formatEntries(value, '; '))
}

function formatEntries(value: object, separator = '\n'): string {
  const shown = Object.entries(value).filter(([, field]) => field !== null && field !== '')
  return shown.map(([name, field]) => `${name}: ${typeof field === 'object' ? JSON.stringify(field) : String(field)}`).join(separator)
}
