/** Finds the types of columns from their values, and converts rows to values of SQL. */
import { ColumnTypeInference } from './cells/column-type-inference.ts'
import { isEmptyCell, parseBoolean, parseDate, parseDuration, parseNumber } from './cells/parse-cell.ts'
import type { Column, SqlColumn, SqlValue } from './typed-table.ts'

const SUMMARY_ROW = /^(?:grand |sub)?totals?:?$|^(?:sum|average|totals? .{0,20}|overall)$/i
const MAX_IDENTIFIER_LENGTH = 60
/** A shorter table has no row of totals. */
const MIN_ROWS_WITH_SUMMARY = 3

type Row = readonly string[]

export interface TableSchema {
  columns: Column[]
  sqlColumns: SqlColumn[]
  rowCount: number
  /** Returns the values of a row in the order of the SQL columns; undefined for a row of totals, which would count twice. */
  convertRow(row: Row): SqlValue[] | undefined
}

/** Cells are trimmed; missing cells are empty. `forEachRow` is called once. */
export function inferSchema(header: Row, forEachRow: (add: (row: Row) => void) => void): TableSchema {
  const inferences = header.map(() => new ColumnTypeInference())
  let [rowCount, summaryCount] = [0, 0]
  forEachRow((row) => {
    rowCount++
    if (isSummary(row)) summaryCount++
    else for (const [index, inference] of inferences.entries()) inference.add(row[index] ?? '')
  })
  const hasSummary = rowCount >= MIN_ROWS_WITH_SUMMARY && summaryCount > 0 && summaryCount < rowCount
  const usedNames = new Set<string>(['rowid'])
  const commas = findDecimalCommas(inferences)
  const columns = inferences.map((inference, index) =>
    createColumn(header[index] ?? '', index, inference, commas[index] ?? false, usedNames),
  )
  return {
    columns,
    sqlColumns: columns.flatMap(listSqlColumns),
    rowCount: hasSummary ? rowCount - summaryCount : rowCount,
    convertRow: (row) =>
      hasSummary && isSummary(row)
        ? undefined
        : columns.flatMap((column, index) =>
            convertCell(column, row[index] ?? '', { isDayFirst: inferences[index]?.isDayFirst, hasDecimalComma: commas[index] }),
          ),
  }
}

function isSummary(row: Row): boolean {
  const first = row.find((cell) => cell !== '')
  return first !== undefined && SUMMARY_ROW.test(first)
}

/** Returns for each column whether "1.500" is one and a half thousand: a column decides for itself, or the others do. */
function findDecimalCommas(inferences: readonly ColumnTypeInference[]): boolean[] {
  const hasPoints = inferences.some(({ decimalMarks }) => decimalMarks.point > 0)
  const hasCommas = inferences.some(({ decimalMarks, hasDottedDates }) => decimalMarks.comma > 0 || hasDottedDates)
  return inferences.map(({ decimalMarks: { comma, point } }) => (comma === point ? hasCommas && !hasPoints : comma > point))
}

function createColumn(
  header: string,
  index: number,
  inference: ColumnTypeInference,
  hasDecimalComma: boolean,
  usedNames: Set<string>,
): Column {
  const { type, unit, scale, reading, isPlainInteger } = inference.getType(hasDecimalComma)
  const name = createIdentifier(header || `column ${index + 1}`, usedNames)
  const readings: Column['readings'] = { text: name }
  if (type !== 'text') {
    readings[type === 'date' ? 'date' : 'number'] = name
    if (!isPlainInteger) readings.text = createIdentifier(`${name}_text`, usedNames)
  } else if (reading) readings[reading] = createIdentifier(`${name}_${reading}`, usedNames)
  return { header, type, unit, scale, readings, ...(inference.hasEmptyCells ? { hasEmptyCells: true as const } : {}) }
}

function listSqlColumns({ readings, type, scale }: Column): SqlColumn[] {
  const numeric = type === 'duration' || scale > 0 ? ('REAL' as const) : ('INTEGER' as const)
  const types = { text: 'TEXT' as const, number: numeric, date: 'TEXT' as const }
  return listReadings(readings).map(([reading, name]) => ({ name, type: types[reading] }))
}

/** The typed reading comes first, then the original text. */
const listReadings = (readings: Column['readings']) =>
  (['number', 'date', 'text'] as const).flatMap((reading) => {
    const name = readings[reading]
    return name === undefined || (reading === 'text' && name === (readings.number ?? readings.date)) ? [] : [[reading, name] as const]
  })

interface CellFormat {
  isDayFirst: boolean | undefined
  hasDecimalComma: boolean | undefined
}

function convertCell({ type, readings }: Column, cell: string, { isDayFirst, hasDecimalComma }: CellFormat): SqlValue[] {
  const isEmpty = isEmptyCell(cell)
  return listReadings(readings).map(([reading]) => {
    if (reading === 'text') return cell === '' ? null : cell
    if (isEmpty) return null
    if (reading === 'date') return parseDate(cell, isDayFirst)?.iso ?? null
    if (type === 'boolean') return parseBoolean(cell) ? 1 : 0
    const duration = type === 'duration' || type === 'text' ? parseDuration(cell) : undefined
    return (duration ?? parseNumber(cell, hasDecimalComma))?.value ?? null
  })
}

/** Returns a name of letters, digits and underscores that is not used yet. */
export function createIdentifier(text: string, used: Set<string>): string {
  const words = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
  const base = (/^\p{L}/u.test(words) ? words : `c_${words}`).slice(0, MAX_IDENTIFIER_LENGTH)
  let name = base
  for (let number = 2; used.has(name); number++) name = `${base}_${number}`
  used.add(name)
  return name
}
