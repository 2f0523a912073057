/** Writes the rows of a typed table into a database. */
import { createCellValue } from './linking/link-question.ts'
import { quoteName } from './sql/write-sql.ts'
import type { CellValue, Column, SqlColumn, SqlDatabase, SqlStatement, TableRows, TypedTable } from './typed-table.ts'

/** Of values of a column with an index. */
const MAX_GROUPS = 10_000
const MAX_INDEXES = 6
const MAX_INDEXED_NUMBERS = 6

export function createTable(database: SqlDatabase, name: string, columns: readonly SqlColumn[]): void {
  database.exec(`CREATE TABLE ${quoteName(name)} (${columns.map((column) => `${quoteName(column.name)} ${column.type}`).join(', ')})`)
}

export const createInsert = (database: SqlDatabase, name: string, columnCount: number): SqlStatement =>
  database.prepare(`INSERT INTO ${quoteName(name)} VALUES (${Array(columnCount).fill('?').join(', ')})`)

export function writeTable(database: SqlDatabase, { name, sqlColumns, rows }: TypedTable & TableRows): void {
  createTable(database, name, sqlColumns)
  const insert = createInsert(database, name, sqlColumns.length)
  database.exec('BEGIN')
  for (const row of rows) insert.run(row)
  database.exec('COMMIT')
}

/** Returns the distinct texts of each column. */
export function listValues({ columns, sqlColumns, rows }: TypedTable & TableRows): CellValue[] {
  return columns.flatMap(({ readings }, column) => {
    const position = sqlColumns.findIndex(({ name }) => name === readings.text)
    const texts = new Set(rows.map((row) => row[position]).filter((value) => value !== null && value !== undefined))
    return Array.from(texts, (text) => createCellValue(column, String(text)))
  })
}

/** With the numbers in the indexes of columns with few values, counts, sums and groups of a large table do not read its rows. */
export function createIndexes(database: SqlDatabase, table: string, columns: readonly Column[]): void {
  const numbers = columns.flatMap(({ readings }) => readings.number ?? []).slice(0, MAX_INDEXED_NUMBERS)
  const texts = columns.flatMap(({ readings, type }) => (type === 'text' ? [readings.text] : []))
  const grouping = texts.filter((text) => countValues(database, table, text) <= MAX_GROUPS).slice(0, MAX_INDEXES)
  for (const [position, text] of grouping.entries()) {
    const parts = [text, ...numbers].map(quoteName).join(', ')
    database.exec(`CREATE INDEX ${quoteName(`${table} index ${position + 1}`)} ON ${quoteName(table)} (${parts})`)
  }
}

function countValues(database: SqlDatabase, table: string, column: string): number {
  const sql = `SELECT count(*) FROM (SELECT DISTINCT ${quoteName(column)} FROM ${quoteName(table)} LIMIT ${MAX_GROUPS + 1})`
  const [[count]] = database.prepare(sql).raw().all() as [[number]]
  return count
}
