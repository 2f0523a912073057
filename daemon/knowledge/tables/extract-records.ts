/** Reads records of JSON as tables: lists of objects, and lines with an object each. */
import { isObject, parseJson } from '../readers/read-json.ts'
import type { ExtractedTable } from './extracted-table.ts'
import { MAX_COLUMNS } from './table-limits.ts'

/** Returns a table for a list of objects, or for each such list in an object. */
export function extractRecords(source: string): ExtractedTable[] {
  const value = parseJson(source)
  if (Array.isArray(value)) return createTable('', value)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, entry]) => (Array.isArray(entry) ? createTable(name, entry) : []))
}

/** Each line is parsed whenever its row is needed: all records would take many times the memory of the text. */
export function parseRecordLines(source: string): ExtractedTable[] {
  const lines = source.split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  return createTable('', {
    length: lines.length,
    *[Symbol.iterator]() {
      for (const line of lines) yield parseJson(line)
    },
  })
}

function createTable(caption: string, values: Iterable<unknown> & { length: number }): ExtractedTable[] {
  const header = new Set<string>()
  let rowCount = 0
  for (const value of values) {
    if (!isObject(value)) continue
    rowCount++
    for (const [name] of listCells(value)) header.add(name)
  }
  // A few entries may be damaged.
  if (rowCount === 0 || rowCount < values.length * 0.9) return []
  const names = [...header].slice(0, MAX_COLUMNS)
  const forEachRow: ExtractedTable['forEachRow'] = (add) => {
    for (const value of values) {
      if (!isObject(value)) continue
      const cells = new Map(listCells(value))
      add(names.map((name) => cells.get(name) ?? ''))
    }
  }
  return [{ caption, header: [...header], rowCount, forEachRow }]
}

/** The fields of an object in a field are named with a dot: customer.city. Deeper ones are JSON. */
function listCells(record: Record<string, unknown>): [string, string][] {
  return Object.entries(record).flatMap(([name, value]): [string, string][] =>
    isObject(value) ? Object.entries(value).map(([inner, entry]) => [`${name}.${inner}`, formatCell(entry)]) : [[name, formatCell(value)]],
  )
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value).trim()
}
