/** Writes the rows of a typed table into a database. */
import { createCellValue } from './linking/link-question.ts'
import type { CellValue, SqlColumn, SqlDatabase, SqlStatement, TableRows, TypedTable } from './typed-table.ts'
import { quoteName } from './write-sql.ts'

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
