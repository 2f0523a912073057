/** How large the tables of a source can be, and what is said about those beyond. */
import { DEFAULT_MAX_FILE_SIZE } from '../../../src/contract/schemas/source-configurations.ts'
import type { ExtractedTable } from './extracted-table.ts'

export const MAX_COLUMNS = 200
const MAX_ROWS = 2_000_000
export const MAX_TABLES = 500
const MAX_DOCUMENT_TABLES = 200

/** A process that read a larger document ends: it would keep the memory. */
export const SMALL_DOCUMENT_BYTES = 4 * 1024 * 1024
/**
 * Memory limits of the processes that build tables, in MB. With a small document, also one that was made to use much memory, the daemon,
 * its parsers and this process stay below 700 MB. Huge ones exist only in sources with a higher `max_file_size`.
 */
export const BUILDERS = { small: 320, large: 640, huge: 1_536 }

/** Returns which process builds the tables of a document with this many bytes. */
export function selectBuilder(size: number): keyof typeof BUILDERS {
  if (size <= SMALL_DOCUMENT_BYTES) return 'small'
  return size <= DEFAULT_MAX_FILE_SIZE ? 'large' : 'huge'
}

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
