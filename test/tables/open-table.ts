/** A table in memory, for tests, benchmarks and training. */
import Database from 'libsql'
import { inferSchema } from '../../daemon/tables/infer-schema.ts'
import { createCellValue } from '../../daemon/tables/linking/link-question.ts'
import { quoteName } from '../../daemon/tables/sql/write-sql.ts'
import type { CellValue, SqlColumn, SqlValue, TypedTable } from '../../daemon/tables/typed-table.ts'

interface MemoryTable {
  table: TypedTable
  sqlColumns: SqlColumn[]
  /** In the order of the SQL columns. */
  rows: SqlValue[][]
  /** The distinct texts of each column. */
  values: CellValue[]
  run: (sql: string) => SqlValue[][]
  close: () => void
}

export function openTable(title: string, header: readonly string[], cells: readonly (readonly string[])[]): MemoryTable {
  const { columns, sqlColumns, rowCount, convertRow } = inferSchema(header, (add) => cells.forEach(add))
  const rows = cells.flatMap((row) => [convertRow(row)].filter((values) => values !== undefined))
  const database = new Database(':memory:')
  database.exec(`CREATE TABLE data (${sqlColumns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(', ')})`)
  const insert = database.prepare(`INSERT INTO data VALUES (${sqlColumns.map(() => '?').join(', ')})`)
  for (const row of rows) insert.run(row)
  const values = columns.flatMap(({ readings }, column) => {
    const position = sqlColumns.findIndex(({ name }) => name === readings.text)
    const texts = new Set(rows.map((row) => row[position]).filter((value) => value !== null && value !== undefined))
    return Array.from(texts, (text) => createCellValue(column, String(text)))
  })
  const run = (sql: string) => database.prepare(sql).raw().all() as SqlValue[][]
  return { table: { name: 'data', title, rowCount, columns }, sqlColumns, rows, values, run, close: () => database.close() }
}
