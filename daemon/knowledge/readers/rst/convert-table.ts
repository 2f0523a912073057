/** Converts the four kinds of tables of reStructuredText to rows of cells. */
import { CsvError, parse } from 'csv-parse/sync'
import { joinTexts } from '../parsed-document.ts'

/** Wider tables remain text. Without a bound, many short rows below a wide border would take quadratic time. */
const MAX_COLUMNS = 100
/** Matched with the characters around it. */
const GRID_EDGE = /^.(?:\||\+[-=])|^[-=]\+/
const SPACE = /^. /

export const isGridBorder = (line: string): boolean => /^\+-[-+]*\+$/.test(line.trim())

/** Whether the line is a border of a simple table, such as `=====  ===`. */
export const isSimpleBorder = (line: string): boolean => line.startsWith('==') && line.includes(' =') && /^[= ]+$/.test(line)

/** Returns undefined if the table is too wide. */
export function parseGridTable(lines: readonly string[]): string[][] | undefined {
  const border = lines[0] ?? ''
  const starts = [...border.slice(0, -1).matchAll(/\+/g)].map(({ index }) => index + 1)
  if (starts.length > MAX_COLUMNS) return undefined
  const table = new TableBuilder()
  for (const line of lines) {
    // Wide characters shift the columns, so marks count before positions.
    const parts = line.replace(/^\|/, '').replace(/\|$/, '').split('|')
    const cells = parts.length === starts.length && !line.startsWith('+') ? parts : cutCells(line.replace(/[|+]$/, ''), starts, GRID_EDGE)
    const isBorder = (cell: string) => /^[-=+]+$/.test(cell)
    if (cells.some(isBorder)) table.endRow()
    table.addLine(cells.map((cell) => (isBorder(cell) ? '' : cell)))
  }
  return table.finish()
}

/** Returns undefined if the table is too wide. */
export function parseSimpleTable(lines: readonly string[]): string[][] | undefined {
  const starts = [...(lines[0] ?? '').matchAll(/=+/g)].map(({ index }, column) => (column === 0 ? 0 : index))
  if (starts.length > MAX_COLUMNS) return undefined
  const table = new TableBuilder()
  for (const line of lines) {
    if (isSimpleBorder(line) || /^-[- ]*$/.test(line)) continue
    const cells = cutCells(line, starts, SPACE)
    // A row without its first cell continues the row above.
    if (cells[0]?.trim() !== '') table.endRow()
    table.addLine(cells.map((cell) => (cell.trim() === '\\' ? '' : cell)))
  }
  return table.finish()
}

/** Cuts a line at the columns that have an edge before them. Other cells span several columns. A short line has fewer cells. */
function cutCells(line: string, starts: readonly number[], edge: RegExp): string[] {
  const cells: string[] = []
  let end = line.length
  for (let column = starts.length - 1; column >= 0; column--) {
    const start = starts[column] ?? 0
    if (start >= end || (column > 0 && !edge.test(line.slice(start - 2, start + 1)))) continue
    cells[column] = line.slice(start, end)
    end = start - 1
  }
  return Array.from(cells, (cell = '') => cell)
}

/** Parses a list of rows that are lists of cells. Returns undefined for other lists. */
export function parseListTable(lines: readonly string[]): string[][] | undefined {
  const rows: string[][][] = []
  let column = 0
  for (const line of lines) {
    const [, mark, first = ''] = /^([*+-][ \t]+)[*+-](?:[ \t]+(.*))?$/.exec(line) ?? []
    const row = rows.at(-1)
    if (mark !== undefined) {
      rows.push([[first]])
      column = mark.length
    } else if (row === undefined) {
      if (line.trim() !== '') return undefined
    } else if (/^[*+-](?:[ \t]|$)/.test(line.slice(column)) && line.slice(0, column).trim() === '') row.push([line.slice(column + 1)])
    else row.at(-1)?.push(line)
  }
  return rows.map((row) => row.map(joinLines))
}

export function parseCsvTable(lines: readonly string[], options: ReadonlyMap<string, string>): string[][] {
  const name = options.get('delim') || ','
  const delimiter = name === 'tab' ? '\t' : name === 'space' ? ' ' : name.slice(0, 1)
  const text = [options.get('header') ?? '', ...lines].join('\n')
  const parseText = (quote: string | null): string[][] =>
    parse(text, {
      delimiter,
      quote,
      record_delimiter: '\n',
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    })
  try {
    return parseText('"')
  } catch (error) {
    if (error instanceof CsvError) return parseText(null)
    throw error
  }
}

class TableBuilder {
  readonly #rows: string[][] = []
  /** Lines of each cell of the row. */
  #cells: string[][] = []

  addLine(cells: readonly string[]): void {
    for (const [column, cell] of cells.entries()) {
      this.#cells[column] ??= []
      this.#cells[column].push(cell)
    }
  }

  endRow(): void {
    const row = this.#cells.map(joinLines)
    if (row.some((cell) => cell !== '')) this.#rows.push(row)
    this.#cells = []
  }

  finish(): string[][] {
    this.endRow()
    return this.#rows
  }
}

function joinLines(lines: readonly string[]): string {
  const trimmed = lines.map((line) => line.trim())
  return joinTexts(trimmed, ' ')
}
