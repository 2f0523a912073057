/** Where the text that is being typed stands: rows that fit, broken between words, and the cursor's place in them. */
import { splitGraphemes, stringWidth } from '../../cli/terminal/text.ts'

export interface Row {
  /** Offset of its first character, and past its last. */
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

/** As it is drawn: a tab would be as wide as the terminal likes. */
export const expandTabs = (text: string) => text.replaceAll('\t', TAB)

/** The rows of a text in that many columns. One column is for the cursor behind the last character. */
export function layOutText(text: string, cursor: number, columns: number): Layout {
  const room = Math.max(2, columns - 1)
  const rows: Row[] = []
  let start = 0
  for (const line of text.split('\n')) {
    rows.push(...wrapRow(line, start, room))
    start += line.length + 1
  }
  const row = rows.findLastIndex((each) => each.start <= cursor)
  const own = rows[row] as Row
  return { rows, row, column: Math.min(stringWidth(expandTabs(text.slice(own.start, Math.min(cursor, own.end)))), columns - 1) }
}

function wrapRow(line: string, start: number, room: number): Row[] {
  if (stringWidth(expandTabs(line)) <= room) return [{ start, end: start + line.length, text: line }]
  const rows: Row[] = []
  let [from, used, at, breakAt, usedAtBreak] = [0, 0, 0, 0, 0]
  const push = (to: number) => {
    rows.push({ start: start + from, end: start + to, text: line.slice(from, to) })
    from = to
  }
  for (const grapheme of splitGraphemes(line)) {
    const size = stringWidth(expandTabs(grapheme))
    // A space at the end of a row may hang over: nobody sees it.
    if (used + size > room && grapheme !== ' ') {
      if (breakAt > from) {
        used -= usedAtBreak
        push(breakAt)
      }
      if (used + size > room) {
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

/** The offset in a row that is nearest to a column. */
export function findOffset({ rows }: Pick<Layout, 'rows'>, row: number, column: number): number {
  const { start, end, text } = rows[row] as Row
  // The end of a row that goes on below is the start of the next: stay one short of it.
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

/** The part of the rows that fits, with the cursor in it. */
export function getVisibleRows(layout: Layout, height: number): { rows: readonly Row[]; row: number; above: number; below: number } {
  const { rows, row } = layout
  if (rows.length <= height) return { rows, row, above: 0, below: 0 }
  const first = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height))
  return { rows: rows.slice(first, first + height), row: row - first, above: first, below: rows.length - first - height }
}
