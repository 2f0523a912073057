/**
 * Finds tables in PDF pages: those that the file marks, and otherwise rows of texts that stand in the same columns, below a header. A wrong
 * table would give wrong numbers, so that anything that is not certain is no table.
 */
import { isEmptyCell, parseDate, parseNumber } from '../../tables/cells/parse-cell.ts'
import type { TextItem } from '../readers/pdf/lines.ts'
import type { PdfPageContent } from '../readers/pdf/read-tables.ts'
import type { ExtractedTable } from './extracted-table.ts'

interface Band {
  x: number
  right: number
}

interface Cell extends Band {
  text: string
}

interface Row {
  y: number
  size: number
  cells: Cell[]
}

interface FoundTable {
  caption: string
  header: string[]
  rows: string[][]
  bands: Band[]
}

const MIN_ROWS = 2
/** Parts of the font size: the gap between two cells, and the distance of texts on one line. */
const MIN_CELL_GAP = 0.8
const MAX_LINE_SHIFT = 0.4
/** Further apart, rows belong to different tables. */
const MAX_ROW_GAP = 4
/** A line so close below another one continues its cells, if rows are further apart. */
const MAX_WRAP_GAP = 1.35
/** Columns of prose have longer lines. */
const MAX_MEAN_LENGTH = 28
const MIN_TYPED_SHARE = 0.8
const MIN_FILLED_SHARE = 0.6
const MAX_CAPTION_LENGTH = 80

/** A table that continues on the next page is one table. */
export async function findPdfTables(pages: AsyncIterable<PdfPageContent>): Promise<ExtractedTable[]> {
  const tables: FoundTable[] = []
  let open: FoundTable | undefined
  for await (const { items, taggedTables } of pages) {
    const found = taggedTables.length > 0 ? readTaggedTables(taggedTables, open) : findPageTables(buildRows(items), open)
    tables.push(...found.tables)
    open = found.last
  }
  return tables.map(({ caption, header, rows }) => ({ caption, header, rowCount: rows.length, forEachRow: (add) => rows.forEach(add) }))
}

interface PageTables {
  tables: FoundTable[]
  /** The last table of the page, which may continue on the next one. */
  last: FoundTable | undefined
}

function readTaggedTables(tagged: readonly string[][][], open: FoundTable | undefined): PageTables {
  const tables: FoundTable[] = []
  let last: FoundTable | undefined
  for (const [index, [header = [], ...rows]] of tagged.entries()) {
    const all = [header, ...rows]
    const isRepeated = header.join('\0') === open?.header.join('\0')
    const isComplete = all.every((row) => row.length === header.length)
    if (index === 0 && open && isComplete && header.length === open.header.length && (isRepeated || !isHeader(header))) {
      open.rows.push(...(isRepeated ? rows : all))
      last = open
      continue
    }
    last = isComplete && isHeader(header) ? { caption: '', header, rows, bands: [] } : undefined
    if (last) tables.push(last)
  }
  return { tables, last }
}

const isHeader = (header: readonly string[]): boolean =>
  header.every((text) => /\p{L}/u.test(text) && !isTyped(text)) && new Set(header).size === header.length

function findPageTables(rows: readonly Row[], open: FoundTable | undefined): PageTables {
  const tables: FoundTable[] = []
  let last: FoundTable | undefined
  let isFirst = true
  for (const { start, end } of listRuns(rows)) {
    const run = joinWrapped(rows.slice(start, end))
    if (isFirst && open && continueTable(open, run)) last = open
    else {
      const found = readTable(run, rows[start - 1])
      const table = found && isCut(found, rows, end) ? undefined : found
      if (table) tables.push(table)
      last = table
    }
    isFirst = false
  }
  return { tables, last }
}

/** Whether the table goes on after a row that does not fit: some of its rows would be missing. */
function isCut({ bands }: FoundTable, rows: readonly Row[], end: number): boolean {
  const [last, other, next] = [rows[end - 1], rows[end], rows[end + 1]]
  if (!last || !other || !next || next.cells.length < 2 || alignRow(next, bands) === undefined) return false
  return last.y - next.y <= Math.max(1, last.size) * MAX_ROW_GAP * 2
}

/** Joins texts on one line to cells, from the top of the page. */
function buildRows(items: readonly TextItem[]): Row[] {
  const rows: Row[] = []
  const placed = items
    .filter(({ str, transform: [, b = 0] }) => str.trim() !== '' && b === 0)
    .map(({ str, width, height, transform: [a = 0, , , , x = 0, y = 0] }) => ({
      x,
      y,
      right: x + width,
      text: str.trim(),
      size: Math.abs(a) || height,
    }))
    .sort((first, second) => second.y - first.y)
  for (const { x, y, right, text, size } of placed) {
    const row = rows.at(-1)
    if (row && Math.abs(row.y - y) <= size * MAX_LINE_SHIFT) row.cells.push({ x, right, text })
    else rows.push({ y, size, cells: [{ x, right, text }] })
  }
  for (const row of rows) row.cells = joinCells(row)
  return rows
}

function joinCells({ cells, size }: Row): Cell[] {
  const joined: Cell[] = []
  for (const cell of cells.sort((a, b) => a.x - b.x)) {
    const last = joined.at(-1)
    if (last && cell.x - last.right < size * MIN_CELL_GAP) {
      const space = cell.x - last.right > size * 0.15 ? ' ' : ''
      joined.splice(-1, 1, { x: last.x, right: Math.max(last.right, cell.right), text: `${last.text}${space}${cell.text}` })
    } else joined.push(cell)
  }
  return joined
}

/** Returns rows below each other that have several cells, or continue one that has. */
function* listRuns(rows: readonly Row[]): Generator<{ start: number; end: number }> {
  for (let start = 0; start < rows.length; start++) {
    if ((rows[start] as Row).cells.length < 2) continue
    let end = start + 1
    while (end < rows.length && isNextRow(rows[end - 1] as Row, rows[end] as Row)) end++
    yield { start, end }
    start = end - 1
  }
}

const isNextRow = (row: Row, next: Row): boolean => {
  const gap = (row.y - next.y) / Math.max(1, row.size)
  return gap <= MAX_ROW_GAP && (next.cells.length > 1 || gap <= MAX_WRAP_GAP)
}

/** Joins the lines of a cell that has several. */
function joinWrapped(rows: readonly Row[]): Row[] {
  const gaps = rows.slice(1).map(({ y, size }, index) => ((rows[index] as Row).y - y) / Math.max(1, size))
  if (!gaps.some((gap) => gap > MAX_WRAP_GAP)) return [...rows]
  const joined: Row[] = []
  for (const [index, row] of rows.entries()) {
    const last = joined.at(-1)
    if (!last || (gaps[index - 1] ?? 0) > MAX_WRAP_GAP) {
      joined.push({ ...row, cells: row.cells.map((cell) => ({ ...cell })) })
      continue
    }
    for (const cell of row.cells) {
      const above = last.cells.find((other) => overlap(other, cell))
      if (above)
        Object.assign(above, { x: Math.min(above.x, cell.x), right: Math.max(above.right, cell.right), text: `${above.text} ${cell.text}` })
      else last.cells.push(cell)
    }
    last.cells.sort((a, b) => a.x - b.x)
  }
  return joined
}

const overlap = (a: Band, b: Band): boolean => a.x < b.right && b.x < a.right

/** Returns undefined unless each text of the rows stands in one column of the header. */
function readTable([head, ...body]: readonly Row[], above: Row | undefined): FoundTable | undefined {
  if (!head || body.length < MIN_ROWS) return undefined
  const header = head.cells.map(({ text }) => text)
  const bands = findBands(body)
  if (!isHeader(header) || bands.length !== header.length || !fitsHeader(head, bands)) return undefined
  const rows = body.map((row) => alignRow(row, bands))
  if (rows.some((row) => row === undefined)) return undefined
  const cells = rows as string[][]
  if (!isTable(cells)) return undefined
  const isCaption = above?.cells.length === 1 && above.y - head.y <= head.size * MAX_ROW_GAP
  return { caption: isCaption ? (above.cells[0]?.text ?? '').slice(0, MAX_CAPTION_LENGTH) : '', header, rows: cells, bands }
}

/** Adds the rows of the next page. Its columns must be the same. */
function continueTable(table: FoundTable, run: readonly Row[]): boolean {
  const isRepeated = run[0]?.cells.map(({ text }) => text).join('\0') === table.header.join('\0')
  const rows = (isRepeated ? run.slice(1) : run).map((row) => alignRow(row, table.bands))
  if (rows.some((row) => row === undefined)) return false
  table.rows.push(...(rows as string[][]))
  return true
}

/** Texts above each other are in one column. */
function findBands(rows: readonly Row[]): Band[] {
  const bands: Band[] = []
  for (const { x, right } of rows.flatMap(({ cells }) => cells).sort((a, b) => a.x - b.x)) {
    const last = bands.at(-1)
    if (last && x < last.right) last.right = Math.max(last.right, right)
    else bands.push({ x, right })
  }
  return bands
}

/** A header may be wider or narrower than its column, but does not reach beyond the next ones. */
const fitsHeader = ({ cells }: Row, bands: readonly Band[]): boolean =>
  cells.every(({ x, right }, index) => {
    const [previous, next] = [bands[index - 1], bands[index + 1]]
    return (previous === undefined || right > previous.right) && (next === undefined || x < next.x)
  })

function alignRow({ cells }: Row, bands: readonly Band[]): string[] | undefined {
  const row = bands.map(() => '')
  for (const cell of cells) {
    const matches = bands.flatMap((band, index) => (overlap(band, cell) ? [index] : []))
    const [index] = matches
    if (matches.length !== 1 || index === undefined || row[index] !== '') return undefined
    row[index] = cell.text
  }
  return row
}

const isTyped = (text: string): boolean => parseNumber(text)?.isWhole === true || parseDate(text)?.isWhole === true

/** Lines of prose beside each other have long lines, no numbers, or many gaps. */
function isTable(rows: readonly string[][]): boolean {
  const filled = rows.flat().filter((text) => text !== '')
  const meanLength = filled.reduce((sum, text) => sum + text.length, 0) / filled.length
  const hasTypedColumn = rows[0]?.some((_, column) => {
    const cells = rows.map((row) => row[column] ?? '').filter((text) => !isEmptyCell(text))
    return cells.length >= MIN_ROWS && cells.filter(isTyped).length >= cells.length * MIN_TYPED_SHARE
  })
  return hasTypedColumn === true && meanLength <= MAX_MEAN_LENGTH && filled.length >= rows.flat().length * MIN_FILLED_SHARE
}
