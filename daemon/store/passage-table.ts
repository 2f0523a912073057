/** A LanceDB table of passages with full-text and vector search. */
import { type Columns, type PassageRow, toArrowTable, toRows } from './arrow.ts'
import { type Filter, toCondition } from './filter.ts'
import type { LanceConnection, Table } from './lance.ts'
import { TableHandle, type TableOptions } from './table-handle.ts'
import { type IndexedColumns, isWorthOptimizing, optimizeTable } from './table-indexes/optimize-table.ts'
import { searchText } from './table-indexes/search-text.ts'
import {
  chooseProbes,
  countPartitions,
  type IndexKind,
  needsVectorIndex,
  readIndexKind,
  VECTOR_INDEX_NAMES,
  type VectorProbes,
} from './table-indexes/vector-index.ts'

interface SearchOptions {
  columns: readonly string[]
  limit: number
  filter?: Filter
}

interface VectorSearchOptions extends SearchOptions {
  /** From `chooseProbes`, with the same filter. Otherwise they are chosen when the vector is there. */
  probes?: VectorProbes | 'exact' | undefined
}

interface TextSearchOptions extends SearchOptions {
  /** Terms that also match, with a lower score. A term of several words must match completely. */
  alternatives?: readonly string[]
}

export interface TableSchema extends IndexedColumns {
  columns: Columns
}

export class PassageTable {
  readonly #connect: () => Promise<LanceConnection>
  readonly #handle: TableHandle
  readonly #schema: TableSchema
  readonly #exactRows: number
  readonly #quantizedRows: number
  #isRepairing = false
  #indexing: Promise<void> | undefined
  #readIndex: { neededPartitions: number; kind: Promise<IndexKind | undefined> } | undefined
  readonly #closing = new AbortController()

  constructor(options: TableOptions, shape: TableSchema, exactRows: number) {
    this.#connect = options.connect
    this.#handle = new TableHandle(options)
    this.#schema = shape
    this.#exactRows = exactRows
    this.#quantizedRows = options.quantizedRows
  }

  /** Loads LanceDB, so that the next call does not wait for it. */
  async open(): Promise<void> {
    await this.#handle.open()
  }

  async add(rows: readonly PassageRow[]): Promise<void> {
    if (rows.length === 0) return
    const data = toArrowTable(this.#schema.columns, rows)
    await this.#handle.commit(async (table) => {
      if (table) await table.add(data as never)
      else await this.#handle.create(data)
    })
  }

  async remove(filter: Filter): Promise<void> {
    await this.#handle.commit(async (table) => {
      await table?.delete(toCondition(filter))
    })
  }

  /** Counts rows by reading them: countRows() answers from the manifest even if data files are missing. */
  async countReadableRows(): Promise<number> {
    const table = await this.#handle.open()
    const [smallest] = Object.keys(this.#schema.columns).filter((column) => this.#schema.columns[column] === 'integer')
    let rows = 0
    if (table) for await (const batch of table.query().select([smallest as string])) rows += batch.numRows
    return rows
  }

  /** Rebuilds unreadable indexes. LanceDB lists only readable ones. */
  async repairIndices(): Promise<void> {
    const { fullTextColumn: words, keys, columns } = this.#schema
    const indexed = [...(words ? [words] : []), ...keys, ...('vector' in columns ? ['vector'] : [])]
    const broken = await this.#handle.commit(async (table) => {
      const found: string[] = []
      if (table) for (const column of indexed) if (!(await this.#canQuery(table, column))) found.push(column)
      for (const column of found)
        for (const name of column === 'vector' ? VECTOR_INDEX_NAMES : [`${column}_idx`])
          await table?.dropIndex(name).catch((error: Error) => {
            if (column !== 'vector') throw error // of the names of a vector index, only one exists
          })
      return found
    })
    if (broken.length > 0) await this.optimize()
  }

  async #canQuery(table: Table, column: string): Promise<boolean> {
    try {
      if (column === this.#schema.fullTextColumn) {
        await this.searchText('a', { columns: [], limit: 1 })
        return true
      }
      // A value that exists, because the pages of an index are not read for others.
      const [row] = toRows(await table.query().select([column]).limit(1).toArrow())
      if (row && this.#schema.columns[column] === 'text') await this.list({ [column]: row[column] as string }, [column])
      else if (row)
        await this.#queryVectors(table, Float32Array.from(row[column] as Float32Array), { columns: [], limit: 1 }, { partitions: 1 })
      return true
    } catch {
      return false // unreadable: it is rebuilt
    }
  }

  /** Full-text search: best matches first, with `_score`. */
  async searchText(words: string, { filter, alternatives = [], ...options }: TextSearchOptions): Promise<PassageRow[]> {
    if (words === '') return []
    const query = { ...options, alternatives, condition: filter && toCondition(filter) }
    const search = async (table: Table) => searchText(await this.#connect(), table, this.#schema.fullTextColumn as string, words, query)
    return (await this.#handle.query(search)) ?? []
  }

  /** Vector search: nearest rows first, with `_distance` (1 − cosine). The vector must be normalized. */
  async searchVectors(vector: Float32Array, options: VectorSearchOptions): Promise<PassageRow[]> {
    const found = await this.#handle.query(async (table) => {
      const probes = options.probes ?? (await this.#chooseProbes(table, options.filter))
      if (probes === 'exact') return this.#queryVectors(table, vector, options, probes)
      try {
        return await this.#queryVectors(table, vector, options, probes)
      } catch {
        // Without the index the search is slower but complete.
        this.#repairInBackground()
        return this.#queryVectors(table, vector, options, 'exact')
      }
    })
    return found ?? []
  }

  async #queryVectors(
    table: Table,
    vector: Float32Array,
    { columns, limit, filter }: SearchOptions,
    probes: VectorProbes | 'exact',
  ): Promise<PassageRow[]> {
    const query = table.vectorSearch(vector).distanceType('dot')
    if (probes === 'exact') query.bypassVectorIndex()
    else query.nprobes(probes.partitions)
    if (probes !== 'exact' && probes.refineFactor) query.refineFactor(probes.refineFactor)
    if (filter) query.where(toCondition(filter))
    return toRows(
      await query
        .select([...columns, '_distance'])
        .limit(limit)
        .toArrow(),
    )
  }

  /** Chooses how a query searches, which can be done while its text is embedded. Returns undefined if the table does not exist. */
  async chooseProbes(filter: Filter | undefined): Promise<VectorProbes | 'exact' | undefined> {
    return this.#handle.query((table) => this.#chooseProbes(table, filter))
  }

  /** The few matches of a narrow filter are spread over all partitions and cheap to compare exactly. */
  async #chooseProbes(table: Table, filter: Filter | undefined): Promise<VectorProbes | 'exact'> {
    const rows = await table.countRows()
    if (rows <= this.#exactRows) return 'exact'
    const matching = filter ? await table.countRows(toCondition(filter)) : rows
    return matching <= this.#exactRows ? 'exact' : chooseProbes(rows, matching, await this.#readIndexKind(table, rows))
  }

  /** Reads it again only after a build and when the table needs another number of partitions, because that takes longer than a query. */
  async #readIndexKind(table: Table, rows: number): Promise<IndexKind | undefined> {
    if (this.#handle.isManaged) return undefined
    const neededPartitions = countPartitions(rows)
    if (this.#readIndex?.neededPartitions !== neededPartitions) {
      const kind = readIndexKind(table).catch(() => undefined) // the query reports what is wrong
      this.#readIndex = { neededPartitions, kind }
    }
    return this.#readIndex.kind
  }

  #repairInBackground(): void {
    if (this.#isRepairing || this.#handle.isRemote) return // only the daemon that syncs the source may change a shared table
    this.#isRepairing = true
    this.repairIndices()
      .then(() => this.updateVectorIndex())
      .catch(() => undefined) // retried by the next query that fails, and at the next start
      .finally(() => {
        this.#isRepairing = false
      })
  }

  async list(filter: Filter, columns: readonly string[]): Promise<PassageRow[]> {
    const list = async (table: Table) => {
      const rows: PassageRow[] = []
      for await (const batch of selectRows(table, filter, columns)) rows.push(...toRows(batch))
      return rows
    }
    return (await this.#handle.query(list)) ?? []
  }

  /** Converting all passages of a large document at once would block the event loop and need much memory. The newest commit is read. */
  async *listInBatches(filter: Filter, columns: readonly string[]): AsyncGenerator<PassageRow[]> {
    const table = await this.#handle.open()
    try {
      if (table) for await (const batch of selectRows(table, filter, columns)) yield toRows(batch)
    } catch (error) {
      throw this.#handle.translateError(error)
    }
  }

  /** Creates missing indexes and updates the others. A large table waits until enough has changed. */
  async optimize(): Promise<void> {
    // Compacting the table would make the index that is being built useless.
    if (this.#indexing || this.#handle.isManaged) return
    await this.#handle.commit(async (table) => {
      const rows = (await table?.countRows()) ?? 0
      if (!table || rows === 0) return
      if (rows <= this.#exactRows || (await isWorthOptimizing(table, this.#schema)))
        await this.#handle.rewrite(async () => optimizeTable(await this.#connect(), table, this.#schema, this.#handle.isRemote))
    })
  }

  /** Returns whether the table has become too large for exact search or for its vector index. One with few recorded rows is not opened. */
  async needsVectorIndex(recordedRows = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#handle.isManaged || !('vector' in this.#schema.columns) || recordedRows <= this.#exactRows) return false
    const table = await this.#handle.open()
    return table !== undefined && (await table.countRows()) > this.#exactRows && needsVectorIndex(table, this.#quantizedRows)
  }

  /** Whether the vector index is being built or repaired. */
  get isIndexing(): boolean {
    return this.#isRepairing || this.#indexing !== undefined
  }

  /**
   * Builds the vector index if needed. Searches and commits continue meanwhile, and a kill leaves the table as it was. Not in the queue
   * of commits: these would wait for minutes.
   */
  async updateVectorIndex(signal?: AbortSignal, recordedRows?: number): Promise<void> {
    if (!(await this.needsVectorIndex(recordedRows))) return
    const ends = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])])
    this.#indexing ??= this.#handle.buildVectorIndex(ends).finally(() => {
      this.#indexing = undefined
      this.#readIndex = undefined
    })
    await this.#indexing
  }

  /** Ends a build and waits for commits. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled([this.#indexing, this.#handle.waitUntilIdle()])
  }
}

const selectRows = (table: Table, filter: Filter, columns: readonly string[]) =>
  table
    .query()
    .where(toCondition(filter))
    .select([...columns])
