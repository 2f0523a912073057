/** Repeats the value of merged cells in all of their cells. */
import type { Cell, Row } from './workbook.ts'

export interface MergedRange {
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

/** Larger ranges are layout. Bounded, because a range can be the whole sheet. */
const MAX_MERGED_CELLS = 10_000

/** `ranges` are those of a sheet, in any order. */
export function* repeatMergedCells(rows: Iterable<Row>, ranges: readonly MergedRange[]): Generator<Row> {
  const waiting = ranges
    .filter(({ firstRow, lastRow, firstColumn, lastColumn }) => {
      const size = (lastRow - firstRow + 1) * (lastColumn - firstColumn + 1)
      return size > 1 && size <= MAX_MERGED_CELLS
    })
    .sort((a, b) => b.firstRow - a.firstRow)
  let open: (MergedRange & { cell: Cell })[] = []
  for (const row of rows) {
    open = open.filter(({ lastRow }) => lastRow >= row.number)
    // Rows of a range without a value in its first cell have nothing to repeat.
    while ((waiting.at(-1)?.firstRow ?? Number.POSITIVE_INFINITY) <= row.number) {
      const range = waiting.pop() as MergedRange
      const cell = range.firstRow === row.number ? row.cells.find(({ column }) => column === range.firstColumn) : undefined
      if (cell) open.push({ ...range, cell })
    }
    yield open.length === 0 ? row : { ...row, cells: fillRow(row, open) }
  }
}

function fillRow({ number, cells }: Row, open: readonly (MergedRange & { cell: Cell })[]): Cell[] {
  const byColumn = new Map(cells.map((cell) => [cell.column, cell]))
  for (const { firstRow, firstColumn, lastColumn, cell } of open)
    for (let column = firstColumn; column <= lastColumn; column++)
      if (!byColumn.has(column)) byColumn.set(column, { ...cell, column, isRepeated: column > firstColumn || number > firstRow })
  return [...byColumn.values()].sort((a, b) => a.column - b.column)
}
