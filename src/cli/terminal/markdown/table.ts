/** Renders Markdown tables: cells wrap, and rows become records if the columns do not fit. */
import type { Tokens } from 'marked'
import { renderInline } from './inline.ts'
import { type Line, line, measureLine, padLine, span, wrapLine } from './styled-text.ts'

const SEPARATOR = ' │ '
const MIN_CELL_COLUMNS = 5

export function renderTable({ header, rows, align }: Tokens.Table, columns: number): Line[] {
  const heads = header.map(({ tokens }) => renderInline(tokens, ['bold']).flat())
  const cells = rows.map((row) =>
    row.map(({ tokens }) => renderInline(tokens).flatMap((line, index) => (index === 0 ? line : [span(' '), ...line]))),
  )
  const widths = fitWidths(
    heads.map((head, index) => Math.max(1, measureLine(head), ...cells.map((row) => measureLine(row[index] ?? [])))),
    columns,
  )
  if (!widths) return renderRecords(heads, cells, columns)
  const rule = widths.map((size) => '─'.repeat(size)).join('─┼─')
  const body = cells.flatMap((row) => renderRow(row, widths, align))
  return [...renderRow(heads, widths, align), line(rule, 'dim'), ...body]
}

/** Shrinks the widest columns first. Returns undefined if the minimum widths do not fit. */
function fitWidths(natural: readonly number[], columns: number): number[] | undefined {
  const available = columns - SEPARATOR.length * (natural.length - 1)
  const widths = [...natural]
  let excess = widths.reduce((sum, next) => sum + next, 0) - available
  while (excess > 0) {
    const widest = Math.max(...widths)
    if (widest <= MIN_CELL_COLUMNS) return undefined
    const next = Math.max(MIN_CELL_COLUMNS, ...widths.filter((size) => size < widest))
    const widestColumns = widths.flatMap((size, index) => (size === widest ? [index] : []))
    const reduction = Math.min(widest - next, Math.max(1, Math.floor(excess / widestColumns.length)))
    for (const index of widestColumns) {
      if (excess <= 0) break
      widths[index] = widest - reduction
      excess -= reduction
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

/** Renders each row as a list of names and values. */
function renderRecords(heads: readonly Line[], rows: readonly Line[][], columns: number): Line[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [line('─'.repeat(Math.min(columns, 8)), 'dim')]),
    ...heads.flatMap((head, column) => wrapLine([...head, span(': ', 'bold'), ...(row[column] ?? [])], columns)),
  ])
}
