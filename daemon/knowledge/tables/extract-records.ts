/** Reads records of JSON as tables: lists of objects, and lines with an object each. */
import type { ExtractedTable } from './extracted-table.ts'

const MAX_COLUMNS = 500

type JsonRecord = Record<string, unknown>

/** Returns a table for a list of objects, or for each such list in an object. */
export function extractRecords(source: string): ExtractedTable[] {
  const value = parseJson(source)
  if (Array.isArray(value)) return createTable('', value)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, entry]) => (Array.isArray(entry) ? createTable(name, entry) : []))
}

export function parseRecordLines(source: string): ExtractedTable[] {
  const lines = source.split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  return createTable('', lines.map(parseJson))
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

function createTable(caption: string, values: readonly unknown[]): ExtractedTable[] {
  const records = values.filter(isRecord)
  // A few entries may be damaged.
  if (records.length === 0 || records.length < values.length * 0.9) return []
  const header = new Set<string>()
  for (const record of records) {
    for (const [name] of listCells(record)) header.add(name)
    if (header.size > MAX_COLUMNS) return []
  }
  const names = [...header]
  return [
    {
      caption,
      header: names,
      forEachRow(add) {
        for (const record of records) {
          const cells = new Map(listCells(record))
          add(names.map((name) => cells.get(name) ?? ''))
        }
      },
    },
  ]
}

/** The fields of an object in a field are named with a dot: customer.city. Deeper ones are JSON. */
function listCells(record: JsonRecord): [string, string][] {
  return Object.entries(record).flatMap(([name, value]): [string, string][] =>
    isRecord(value) ? Object.entries(value).map(([inner, entry]) => [`${name}.${inner}`, formatCell(entry)]) : [[name, formatCell(value)]],
  )
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value).trim()
}
