/** Finds the tables of a sheet: titles and notes above them, their header, and their rows. */
import type { Cell, Row } from './workbook.ts'

/** What a sheet contains, in order. Rows belong to the last header; without one, they have no column names. */
export type SheetEvent =
  | { kind: 'text'; row: Row }
  /** Names of columns by number. */
  | { kind: 'header'; names: ReadonlyMap<number, string>; row: Row }
  | { kind: 'row'; row: Row }

/** Rows in which a header is searched for. */
const SAMPLE_ROWS = 20
const MAX_NAME_LENGTH = 100
/** A header names most columns of the rows below. */
const MIN_HEADER_SHARE = 0.6

/** Tables are separated by empty rows. A table without a header of its own continues the one before. */
export function* findTables(rows: Iterable<Row>): Generator<SheetEvent> {
  let sample: Row[] = []
  let header: ReadonlyMap<number, string> | undefined
  let isSampled = false
  let previous = 0
  const flush = function* (): Generator<SheetEvent> {
    for (const event of classifyRows(sample, header)) {
      if (event.kind === 'header') header = event.names
      yield event
    }
    sample = []
  }
  for (const row of rows) {
    const isNewBlock = previous > 0 && row.number > previous + 1
    previous = row.number
    if (isNewBlock) {
      if (!isSampled) yield* flush()
      isSampled = false
    }
    if (isSampled) {
      yield classifyRow(row, header)
      continue
    }
    sample.push(row)
    if (sample.length < SAMPLE_ROWS) continue
    yield* flush()
    isSampled = true
  }
  if (!isSampled) yield* flush()
}

const listOwnCells = ({ cells }: Row): Cell[] => cells.filter(({ isRepeated }) => !isRepeated)

function* classifyRows(sample: readonly Row[], header: ReadonlyMap<number, string> | undefined): Generator<SheetEvent> {
  const index = findHeader(sample, header)
  if (index === undefined) {
    for (const row of sample) yield classifyRow(row, header)
    return
  }
  for (const row of sample.slice(0, index)) yield { kind: 'text', row }
  const top = sample[index] as Row
  const below = sample[index + 1]
  const isDouble = below !== undefined && index + 2 < sample.length && isSecondHeader(top, below)
  const names = nameColumns(isDouble ? [top, below] : [top])
  yield { kind: 'header', names, row: top }
  for (const row of sample.slice(index + (isDouble ? 2 : 1))) yield classifyRow(row, names)
}

/** A single cell beside or below a table is a note. */
function classifyRow(row: Row, header: ReadonlyMap<number, string> | undefined): SheetEvent {
  const own = listOwnCells(row)
  const isNote = own.length === 1 && (!header || (header.size > 2 && typeof own[0]?.value === 'string'))
  return { kind: isNote && row.cells.length === 1 ? 'text' : 'row', row }
}

/** Returns the index of the row that names the columns of the rows below it. */
function findHeader(sample: readonly Row[], before: ReadonlyMap<number, string> | undefined): number | undefined {
  const counts = sample.map((row) => row.cells.length)
  for (let index = 0; index < sample.length - 1; index++) {
    const row = sample[index] as Row
    const widest = Math.max(...counts.slice(index + 1))
    // Titles and notes have fewer cells than the table below them.
    if (listOwnCells(row).length < 2 || row.cells.length < widest * MIN_HEADER_SHARE) continue
    if (!isHeader(row) || listsLabels(sample.slice(index))) return undefined
    // The rows after an empty row usually continue the table.
    return before && index === 0 && !hasOtherTypes(row, sample.slice(index + 1)) ? undefined : index
  }
  return undefined
}

/** A header has distinct, short texts; dates and years can be among them. */
function isHeader(row: Row): boolean {
  const own = listOwnCells(row)
  const isName = ({ value, isDate, text }: Cell) =>
    text.length <= MAX_NAME_LENGTH && (isDate || isYear(value) || (typeof value === 'string' && !/^[\d\s.,:%$€£+-]+$/.test(text)))
  return (
    own.every(isName) &&
    own.some(({ value, isDate }) => typeof value === 'string' && !isDate) &&
    new Set(own.map(({ text }) => text)).size === own.length
  )
}

const isYear = (value: Cell['value']): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 1900 && value <= 2100

/** A form: labels that end with a colon, each with its value beside it. */
function listsLabels(rows: readonly Row[]): boolean {
  const labels = rows.filter(({ cells }) => cells[0]?.text.endsWith(':'))
  return labels.length * 2 >= rows.length
}

/** Whether a column of texts has other values below. */
function hasOtherTypes(row: Row, below: readonly Row[]): boolean {
  const texts = new Set(row.cells.flatMap(({ column, value, isDate }) => (typeof value === 'string' && !isDate ? [column] : [])))
  return below.some(({ cells }) => cells.some(({ column, value, isDate }) => texts.has(column) && (typeof value !== 'string' || isDate)))
}

/** The names below merged names: Q1 above Plan and Actual. */
function isSecondHeader(top: Row, below: Row): boolean {
  const isMerged = top.cells.some(({ isRepeated }) => isRepeated)
  return isMerged && below.cells.every(({ value, isDate }) => typeof value === 'string' && !isDate) && below.cells.length >= 2
}

function nameColumns(rows: readonly Row[]): Map<number, string> {
  const names = new Map<number, string>()
  for (const { cells } of rows)
    for (const { column, text } of cells) {
      const above = names.get(column)
      names.set(column, above === undefined || above === text ? text : `${above} ${text}`)
    }
  return names
}
