/** Tables of Markdown that fit the terminal: columns give way to each other, cells wrap, and where nothing fits rows become records. */
import type { Tokens } from 'marked'
import { renderInline } from './inline.ts'
import { type Line, line, measureLine, padLine, span, wrapLine } from './styled-text.ts'

const SEPARATOR = ' │ '
const MIN_CELL_COLUMNS = 5

export function renderTable({ header, rows, align }: Tokens.Table, columns: number): Line[] {
  const heads = header.map(({ tokens }) => renderInline(tokens, ['bold']).flat())
  const cells = rows.map((row) =>
    row.map(({ tokens }) => renderInline(tokens).flatMap((each, index) => (index === 0 ? each : [span(' '), ...each]))),
  )
  const widths = fitWidths(
    heads.map((head, index) => Math.max(1, measureLine(head), ...cells.map((row) => measureLine(row[index] ?? [])))),
    columns,
  )
  if (!widths) return renderRecords(heads, cells, columns)
  const ruled = widths.map((size) => '─'.repeat(size)).join('─┼─')
  const body = cells.flatMap((row) => renderRow(row, widths, align))
  return [...renderRow(heads, widths, align), line(ruled, 'dim'), ...body]
}

/** Widths that fit: the widest gives first. Nothing when even the narrowest are too wide. */
function fitWidths(natural: readonly number[], columns: number): number[] | undefined {
  const room = columns - SEPARATOR.length * (natural.length - 1)
  const widths = [...natural]
  let over = widths.reduce((sum, next) => sum + next, 0) - room
  while (over > 0) {
    const widest = Math.max(...widths)
    if (widest <= MIN_CELL_COLUMNS) return undefined
    const next = Math.max(MIN_CELL_COLUMNS, ...widths.filter((size) => size < widest))
    const givers = widths.flatMap((size, index) => (size === widest ? [index] : []))
    const each = Math.min(widest - next, Math.max(1, Math.floor(over / givers.length)))
    for (const index of givers) {
      if (over <= 0) break
      widths[index] = widest - each
      over -= each
    }
  }
  return widths
}

function renderRow(cells: readonly Line[], widths: readonly number[], align: Tokens.Table['align']): Line[] {
  const wrappedCells = widths.map((size, index) => wrapLine(cells[index] ?? [], size))
  const height = Math.max(1, ...wrappedCells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    widths.flatMap((size, index) => [
      ...(index === 0 ? [] : [span(SEPARATOR, 'dim')]),
      ...padLine(wrappedCells[index]?.[row] ?? [], size, align[index] ?? 'left'),
    ]),
  )
}

/** A row as a list of names and values, for terminals that are too narrow for columns. */
function renderRecords(heads: readonly Line[], rows: readonly Line[][], columns: number): Line[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [line('─'.repeat(Math.min(columns, 8)), 'dim')]),
    ...heads.flatMap((head, at) => wrapLine([...head, span(': ', 'bold'), ...(row[at] ?? [])], columns)),
  ])
}
