/** Creates the indexes of a large table. */
import type { Column, SqlDatabase } from '../typed-table.ts'
import { quoteName } from './write-sql.ts'

/** Of values of a column with an index. */
const MAX_GROUPS = 10_000
const MAX_INDEXES = 6
const MAX_INDEXED_NUMBERS = 6

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
