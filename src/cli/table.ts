/** Rows as a table that fits the terminal, and one resource as a page of names and values. */
import { longCell, shortCell } from './cell.ts'
import { paint } from './color.ts'
import { padEnd, truncate, width, wrap } from './terminal-text.ts'

export type Row = Record<string, unknown>

const GAP = 2
const NARROWEST = 10
/** An identifier is longer than this. */
const NARROW = 30

/** Identifiers are for copying, so they are never cut. */
const isWhole = (key: string) => key === 'id' || key.endsWith('_id')
/** Half a moment says nothing. */
const isMoment = (key: string) => key.endsWith('_at') || key === 'last_sync'

export interface Paper {
  columns: number
  stream: NodeJS.WriteStream
}

/** The terminal's width, or none at all where there is no terminal. */
export function paperFor(stream: NodeJS.WriteStream): Paper {
  return { columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY, stream }
}

export function table(rows: readonly Row[], columns: readonly string[], paper: Paper): string {
  const keys = namesOnly(rows, columns, paper) ? columns.filter((key) => !rows.some((row) => isWhole(key) && shortCell(row[key]).length > NARROW)) : columns
  const cells = rows.map((row) => keys.map((key) => shortCell(row[key])))
  const heads = keys.map((key) => key.replaceAll('_', ' ').toUpperCase())
  const natural = keys.map((_, index) => Math.max(width(heads[index] ?? ''), ...cells.map((row) => width(row[index] ?? ''))))
  const widths = fit(keys, natural, paper.columns)
  const line = (row: readonly string[], color?: 'bold') => {
    const text = row
      .slice(0, widths.length)
      .map((cell, index) => padEnd(truncate(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
    return color ? paint(color, text, paper.stream) : text
  }
  return [line(heads, 'bold'), ...cells.map((row) => line(row))].join('\n')
}

/** Whether identifiers would leave no room for anything else, and there is a name to call each row by. */
function namesOnly(rows: readonly Row[], columns: readonly string[], paper: Paper): boolean {
  const whole = Math.max(0, ...rows.map(({ id }) => (typeof id === 'string' ? id.length : 0)))
  const label = columns.find((key) => ['name', 'title', 'url'].includes(key))
  if (label === undefined || whole + GAP + NARROWEST <= paper.columns) return false
  return rows.every((row) => shortCell(row[label]) !== '')
}

const total = (widths: readonly number[]) => widths.reduce((sum, next) => sum + next, 0) + GAP * (widths.length - 1)

/** Widths that fit: the widest gives first; when all are at their narrowest, the last column goes, and the others have its room. */
function fit(keys: readonly string[], natural: readonly number[], columns: number): number[] {
  for (let count = natural.length; ; count--) {
    const widths = shrunk(keys, natural.slice(0, count), columns)
    if (count <= 1 || total(widths) <= columns) return widths
  }
}

function shrunk(keys: readonly string[], natural: readonly number[], columns: number): number[] {
  const widths = [...natural]
  while (total(widths) > columns) {
    const givers = widths
      .map((size, index) => ({ size, index }))
      .filter(({ size, index }) => size > NARROWEST && !isWhole(keys[index] ?? '') && !isMoment(keys[index] ?? ''))
    const widest = givers.sort((a, b) => b.size - a.size)[0]
    if (!widest) return widths
    const less = Math.max(1, Math.min(total(widths) - columns, widest.size - (givers[1]?.size ?? 0)))
    widths[widest.index] = Math.max(NARROWEST, widest.size - less)
  }
  return widths
}

/** One resource: a name and its value a line, long texts wrapped beside their name. */
export function record(row: Row, paper: Paper): string {
  const names = Object.keys(row).map((key) => key.replaceAll('_', ' '))
  const left = Math.max(...names.map(width)) + GAP
  const right = Math.max(20, Math.min(paper.columns, 120) - left)
  const paragraphs = Object.values(row).map((value, index) => {
    const lines = paper.columns === Number.POSITIVE_INFINITY ? longCell(value).split('\n') : wrap(longCell(value), right)
    const name = padEnd(`${names[index]}`, left)
    return lines.map((line, at) => (at === 0 ? paint('bold', name, paper.stream) : ' '.repeat(left)) + line).join('\n')
  })
  return paragraphs.map((text) => text.trimEnd()).join('\n')
}
