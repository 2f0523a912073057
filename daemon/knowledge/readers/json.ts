/** Reads JSON as lines of "path: value", a paragraph a record, without recursion however deep it nests. */
import { cleaned, type ReadDocument } from './document.ts'

/** Names that lead to a value; further up they only repeat. */
const LONGEST_PATH = 4

export function readJson(source: string): ReadDocument {
  const value = parsed(source)
  return value === undefined ? asWritten(source) : table(records(value))
}

export function readJsonLines(source: string): ReadDocument {
  const lines = source.split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  return table(
    lines.map((line) => {
      const value = parsed(line)
      return value === undefined ? line : described(value)
    }),
  )
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source.replace(/^\ufeff/, ''))
  } catch {
    // Comments, trailing commas, a file that was cut off: it is read as it is written.
    return undefined
  }
}

const asWritten = (source: string): ReadDocument => ({ text: cleaned(source), format: 'code', pages: [], title: null })

function table(records: string[]): ReadDocument {
  return { text: cleaned(records.filter((record) => record !== '').join('\n\n')), format: 'table', pages: [], title: null }
}

/** One record an entry of a list, or of an object whose entries are records themselves. */
function records(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((entry) => described(entry))
  if (!isObject(value)) return [described(value)]
  const entries = Object.entries(value)
  return entries.some(([, entry]) => isObject(entry) || Array.isArray(entry))
    ? entries.flatMap(([name, entry]) =>
        Array.isArray(entry) && entry.some(isObject) ? entry.map((item) => described(item, name)) : [described(entry, name)],
      )
    : [described(value)]
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Frame {
  names: string[] | undefined
  values: unknown[]
  next: number
}

function described(value: unknown, name?: string): string {
  const lines: string[] = []
  const path: string[] = name === undefined ? [] : [name]
  const frames: Frame[] = []
  const enter = (entry: unknown): void => {
    if (Array.isArray(entry)) {
      if (entry.every((item) => typeof item !== 'object' || item === null))
        say(
          entry
            .map(shown)
            .filter((item) => item !== '')
            .join(', '),
        )
      else frames.push({ names: undefined, values: entry, next: 0 })
    } else if (isObject(entry)) frames.push({ names: Object.keys(entry), values: Object.values(entry), next: 0 })
    else say(shown(entry))
  }
  const say = (text: string) => {
    if (text !== '') lines.push(path.length > 0 ? `${path.slice(-LONGEST_PATH).join('.')}: ${text}` : text)
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

const shown = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
