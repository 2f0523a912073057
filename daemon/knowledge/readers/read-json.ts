/** Reads JSON as lines of "path: value", one paragraph per record, without recursion. */
import { cleanText, joinTexts, type ParsedDocument } from './parsed-document.ts'

/** Maximum path segments per line; the outer ones would only repeat. */
const MAX_PATH_NAMES = 4

export function readJson(source: string): ParsedDocument {
  const value = parseJson(source)
  if (value === undefined) return { text: cleanText(source), format: 'code', pages: [], title: null }
  return createTable(formatRecords(value))
}

export function readJsonLines(source: string): ParsedDocument {
  const lines = source.split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  return createTable(
    lines.map((line) => {
      const value = parseJson(line)
      return value === undefined ? line : formatRecord(value)
    }),
  )
}

/** Returns undefined if it is not valid. */
export function parseJson(source: string): unknown {
  try {
    return JSON.parse(source.replace(/^\ufeff/, ''))
  } catch {
    // Comments, trailing commas, a truncated file: read as text.
    return undefined
  }
}

function createTable(records: string[]): ParsedDocument {
  return { text: cleanText(joinTexts(records, '\n\n')), format: 'table', pages: [], title: null }
}

/** Returns one record for each entry of a list, or of an object that contains objects or lists. */
function formatRecords(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((entry) => formatRecord(entry))
  if (!isObject(value)) return [formatRecord(value)]
  const entries = Object.entries(value)
  return entries.some(([, entry]) => isObject(entry) || Array.isArray(entry))
    ? entries.flatMap(([name, entry]) =>
        Array.isArray(entry) && entry.some(isObject) ? entry.map((item) => formatRecord(item, name)) : [formatRecord(entry, name)],
      )
    : [formatRecord(value)]
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Frame {
  names: string[] | undefined
  values: unknown[]
  next: number
}

function formatRecord(value: unknown, name?: string): string {
  const lines: string[] = []
  const path: string[] = name === undefined ? [] : [name]
  const frames: Frame[] = []
  const enter = (entry: unknown): void => {
    if (Array.isArray(entry)) {
      if (entry.every((item) => typeof item !== 'object' || item === null)) addLine(joinTexts(entry.map(formatValue), ', '))
      else frames.push({ names: undefined, values: entry, next: 0 })
    } else if (isObject(entry)) frames.push({ names: Object.keys(entry), values: Object.values(entry), next: 0 })
    else addLine(formatValue(entry))
  }
  const addLine = (text: string) => {
    if (text !== '') lines.push(path.length > 0 ? `${path.slice(-MAX_PATH_NAMES).join('.')}: ${text}` : text)
  }
  enter(value)
  for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
    if (frame.next > 0 && frame.names) path.pop()
    if (frame.next === frame.values.length) {
      frames.pop()
      continue
    }
    if (frame.names) path.push(frame.names[frame.next] ?? '')
    enter(frame.values[frame.next++])
  }
  return lines.join('\n')
}

const formatValue = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
