/** Merges the small files of a table and updates its full-text and key indexes, and tells when that is worth it. */
import type { LanceConnection, Table } from '../lance.ts'

export interface IndexedColumns {
  /** Columns with a BTREE index. */
  keys: readonly string[]
  /** The column with a full-text index. */
  fullTextColumn?: string
}

/** Old table versions are kept this long, because running queries may still read them. */
const VERSION_RETENTION_MS = 60_000
/** Other daemons may still download them. */
const SHARED_VERSION_RETENTION_MS = 300_000
/** Queries read rows that are not in an index one by one: 1,000 texts take a few milliseconds. */
const MAX_UNINDEXED_ROWS = 1_000
/** Every commit adds a fragment. */
const MAX_FRAGMENTS = 64

/** Creates missing indexes, updates the others, merges small fragments and removes old versions. */
export async function optimizeTable(connection: LanceConnection, table: Table, columns: IndexedColumns, isRemote: boolean): Promise<void> {
  await createIndices(connection, table, columns, new Set((await table.listIndices()).flatMap((index) => index.columns)))
  const retention = isRemote ? SHARED_VERSION_RETENTION_MS : VERSION_RETENTION_MS
  const optimize = () => table.optimize({ cleanupOlderThan: new Date(Date.now() - retention) })
  try {
    await optimize()
  } catch {
    // LanceDB 0.30 can panic when it updates a full-text index after rows were deleted and added
    // (lance-index, inverted/builder.rs: index out of bounds). Rebuilding the index helps. Searches use the old one until then.
    for (const index of await table.listIndices()) if (index.columns.includes('vector')) await table.dropIndex(index.name)
    await createIndices(connection, table, columns)
    await optimize()
  }
}

/**
 * LanceDB 0.30 rewrites the rows and indexes of a table with fewer than a million rows whenever it is optimized, so a large table is
 * optimized only after enough changes.
 */
export async function isWorthOptimizing(table: Table, { keys, fullTextColumn }: IndexedColumns): Promise<boolean> {
  const indexes = await table.listIndices()
  const present = new Set(indexes.flatMap(({ columns }) => columns))
  if (![...keys, ...(fullTextColumn ? [fullTextColumn] : [])].every((column) => present.has(column))) return true
  for (const { name } of indexes) {
    const stats = await table.indexStats(name)
    if (!stats || stats.numUnindexedRows > MAX_UNINDEXED_ROWS) return true
  }
  return (await table.stats()).fragmentStats.numFragments > MAX_FRAGMENTS
}

/** Replaces the indexes, except those of the columns to keep. */
async function createIndices(
  { lancedb }: LanceConnection,
  table: Table,
  { keys, fullTextColumn }: IndexedColumns,
  kept: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (fullTextColumn && !kept.has(fullTextColumn)) {
    // The text is already tokenized, folded and lower-cased. Only English stemming is left to the index.
    await table.createIndex(fullTextColumn, {
      config: lancedb.Index.fts({
        baseTokenizer: 'whitespace',
        stem: true,
        language: 'English',
        removeStopWords: false,
        withPosition: false,
        lowercase: false,
        asciiFolding: true,
        maxTokenLength: 64,
      }),
    })
  }
  for (const key of keys) if (!kept.has(key)) await table.createIndex(key, { config: lancedb.Index.btree() })
}
