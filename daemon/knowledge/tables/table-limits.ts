/** How large the tables of a source can be, and what is said about those beyond. */
import type { ExtractedTable } from './extracted-table.ts'

export const MAX_COLUMNS = 200
const MAX_ROWS = 2_000_000
export const MAX_TABLES = 500
const MAX_DOCUMENT_TABLES = 200

/** Calls `add` with the rows within the limit. */
export function forEachRow(table: ExtractedTable, add: (row: readonly string[]) => void): void {
  let count = 0
  table.forEachRow((row) => {
    if (count++ < MAX_ROWS) add(row)
  })
}

/** Returns what is left out of a table; null if it is complete. */
export function describeMissingCells({ header, rowCount }: ExtractedTable): string | null {
  const limits = [
    ...(header.length > MAX_COLUMNS ? [`the first ${MAX_COLUMNS} of ${header.length} columns`] : []),
    ...(rowCount > MAX_ROWS ? [`the first ${MAX_ROWS.toLocaleString('en-US')} rows`] : []),
  ]
  return limits.length === 0 ? null : `Only ${limits.join(' and ')} can be computed with.`
}

/** Returns how many tables of a document are built, and what is said about the others. `room` is what the source can have in addition. */
export function limitTables(count: number, room: number): { built: number; lacksRoom: boolean; notice: string | null } {
  const wanted = Math.min(count, MAX_DOCUMENT_TABLES)
  const built = Math.min(wanted, room)
  const lacksRoom = built < wanted
  const limit = lacksRoom ? `a source can have ${MAX_TABLES}` : `a document can have ${MAX_DOCUMENT_TABLES}`
  const part = built === 0 ? 'None' : `Only the first ${built}`
  return { built, lacksRoom, notice: built === count ? null : `${part} of its ${count} tables can be computed with: ${limit}.` }
}
