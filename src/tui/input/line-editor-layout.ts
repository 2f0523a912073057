/** Wraps the input into rows and computes the position of the cursor. */
import { splitGraphemes, stringWidth } from '../../cli/terminal/text.ts'

export interface Row {
  /** Offsets of the first character and after the last. */
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Layout {
  readonly rows: readonly Row[]
  readonly row: number
  readonly column: number
}

const TAB = '    '

/** Replaces tabs, whose width depends on the terminal. */
export const expandTabs = (text: string) => text.replaceAll('\t', TAB)

/** Reserves one column for the cursor after the last character. */
export function layOutText(text: string, cursor: number, columns: number): Layout {
  const maxWidth = Math.max(2, columns - 1)
  const rows: Row[] = []
  let start = 0
  for (const line of text.split('\n')) {
    rows.push(...wrapRow(line, start, maxWidth))
    start += line.length + 1
  }
  const row = rows.findLastIndex(({ start: rowStart }) => rowStart <= cursor)
  const current = rows[row] as Row
  return { rows, row, column: Math.min(stringWidth(expandTabs(text.slice(current.start, Math.min(cursor, current.end)))), columns - 1) }
}

function wrapRow(line: string, start: number, maxWidth: number): Row[] {
  if (stringWidth(expandTabs(line)) <= maxWidth) return [{ start, end: start + line.length, text: line }]
  const rows: Row[] = []
  let [from, used, at, breakAt, usedAtBreak] = [0, 0, 0, 0, 0]
  const push = (to: number) => {
    rows.push({ start: start + from, end: start + to, text: line.slice(from, to) })
    from = to
  }
  for (const grapheme of splitGraphemes(line)) {
    const size = stringWidth(expandTabs(grapheme))
    // A trailing space may exceed the width.
    if (used + size > maxWidth && grapheme !== ' ') {
      if (breakAt > from) {
        used -= usedAtBreak
        push(breakAt)
      }
      if (used + size > maxWidth) {
        used = 0
        push(at)
      }
      usedAtBreak = 0
    }
    used += size
    at += grapheme.length
    if (/\s$/.test(grapheme)) {
      breakAt = at
      usedAtBreak = used
    }
  }
  push(line.length)
  return rows
}

/** Returns the offset in a row that is nearest to a column. */
export function findOffset({ rows }: Pick<Layout, 'rows'>, row: number, column: number): number {
  const { start, end, text } = rows[row] as Row
  // The end of a wrapped row is the start of the next one.
  const last = rows[row + 1]?.start === end ? end - 1 : end
  let [offset, used] = [start, 0]
  for (const grapheme of splitGraphemes(text)) {
    const size = stringWidth(expandTabs(grapheme))
    if (used + size > column) break
    used += size
    offset += grapheme.length
  }
  return Math.max(start, Math.min(offset, last))
}

/** Returns the rows around the cursor that fit the height. */
export function getVisibleRows(layout: Layout, height: number): { rows: readonly Row[]; row: number; above: number; below: number } {
  const { rows, row } = layout
  if (rows.length <= height) return { rows, row, above: 0, below: 0 }
  const first = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height))
  return { rows: rows.slice(first, first + height), row: row - first, above: first, below: rows.length - first - height }
}
