/** A LanceDB table of passages with full-text and vector search. */
import { type Columns, type PassageRow, toArrowTable, toRows } from './arrow.ts'
import { CommitQueue } from './commit-queue.ts'
import { type Filter, toCondition } from './filter.ts'
import type { BooleanQuery, LanceConnection, Operator, Table } from './lance.ts'

export interface SearchOptions {
  columns: readonly string[]
  limit: number
  filter?: Filter
}

export interface TextSearchOptions extends SearchOptions {
  /** Terms that also match, with a lower score. A term of several words must match completely. */
  alternatives?: readonly string[]
}

export interface TableSchema {
  columns: Columns
  /** Columns with a BTREE index. */
  keys: readonly string[]
  /** The column with a full-text index. */
  fullTextColumn?: string
}

/**
 * Comparing a fixed share of the partitions keeps recall at 0.98 of the nearest 100 at any table size. Training with fewer
 * iterations and samples than usual takes a third of the time at the same recall.
 */
const PARTITIONS = 256
const PROBES = 96
const TRAINING_OPTIONS = { maxIterations: 15, sampleRate: 64 }
/** If a filter matches a smaller share of the rows, the nearest partitions may miss the nearest matches. */
const NARROW_FILTER_SHARE = 0.1
/** Low, so that passages with the words of the query come first. */
const ALTERNATIVE_WEIGHT = 0.3
/** Old table versions are kept this long, because running queries may still read them. */
const VERSION_RETENTION_MS = 60_000

export class PassageTable {
  readonly #connect: () => Promise<LanceConnection>
  readonly #name: string
  readonly #schema: TableSchema
  readonly #exactRows: number
  readonly #commits = new CommitQueue()
  #opened: Promise<Table | undefined> | undefined
  #isRepairing = false

  constructor(connect: () => Promise<LanceConnection>, name: string, shape: TableSchema, exactRows: number) {
    this.#connect = connect
    this.#name = name
    this.#schema = shape
    this.#exactRows = exactRows
  }

  async add(rows: readonly PassageRow[]): Promise<void> {
    if (rows.length === 0) return
    const data = toArrowTable(this.#schema.columns, rows)
    await this.#commits.run(async () => {
      const table = await this.#table()
      if (table) await table.add(data as never)
      else await this.#open(({ database }) => database.createTable(this.#name, data as never))
    })
  }

  async remove(filter: Filter): Promise<void> {
    await this.#commits.run(async () => {
      const table = await this.#table()
      await table?.delete(toCondition(filter))
    })
  }

  /** Counts rows by reading them: countRows() answers from the manifest even if data files are missing. */
  async countReadableRows(): Promise<number> {
    const table = await this.#table()
    const [smallest] = Object.keys(this.#schema.columns).filter((column) => this.#schema.columns[column] === 'integer')
    let rows = 0
    if (table) for await (const batch of table.query().select([smallest as string])) rows += batch.numRows
    return rows
  }

  /** Rebuilds unreadable indices. LanceDB lists only readable ones. */
  async repairIndices(): Promise<void> {
    const { fullTextColumn: words, keys, columns } = this.#schema
    const indexed = [...(words ? [words] : []), ...keys, ...('vector' in columns ? ['vector'] : [])]
    const broken = await this.#commits.run(async () => {
      const table = await this.#table()
      const found: string[] = []
      if (table) for (const column of indexed) if (!(await this.#canQuery(table, column))) found.push(column)
      for (const column of found) await table?.dropIndex(`${column}_idx`)
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
      else if (row) await this.#queryVectors(table, Float32Array.from(row[column] as Float32Array), { columns: [], limit: 1 }, 'indexed')
      return true
    } catch {
      return false // unreadable: it is rebuilt
    }
  }

  /** Full-text search: best matches first, with `_score`. */
  async searchText(words: string, { columns, limit, filter, alternatives = [] }: TextSearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table || words === '') return []
    const column = this.#schema.fullTextColumn as string
    const text = alternatives.length === 0 ? words : await this.#combineTerms(words, alternatives, column)
    let query = table.query().fullTextSearch(text, { columns: [column] })
    if (filter) query = query.where(toCondition(filter))
    return toRows(
      await query
        .select([...columns, '_score'])
        .limit(limit)
        .toArrow(),
    )
  }

  /** LanceDB 0.30 ignores weight and operator for rows that were added after the last optimize(). */
  async #combineTerms(words: string, alternatives: readonly string[], column: string): Promise<BooleanQuery> {
    const { lancedb } = await this.#connect()
    const single = alternatives.filter((term) => !term.includes(' '))
    const weighted = (text: string, operator: Operator) => new lancedb.MatchQuery(text, column, { boost: ALTERNATIVE_WEIGHT, operator })
    return new lancedb.BooleanQuery(
      [
        new lancedb.MatchQuery(words, column),
        ...(single.length > 0 ? [weighted(single.join(' '), lancedb.Operator.Or)] : []),
        ...alternatives.filter((term) => term.includes(' ')).map((term) => weighted(term, lancedb.Operator.And)),
      ].map((query) => [lancedb.Occur.Should, query]),
    )
  }

  /** Vector search: nearest rows first, with `_distance` (1 − cosine). The vector must be normalized. */
  async searchVectors(vector: Float32Array, options: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table) return []
    if (options.filter && (await this.#isNarrow(table, options.filter))) return this.#queryVectors(table, vector, options, 'exact')
    try {
      return await this.#queryVectors(table, vector, options, 'indexed')
    } catch {
      // Without the index the search is slower but complete.
      this.#repairInBackground()
      return this.#queryVectors(table, vector, options, 'exact')
    }
  }

  /** Searches without the index; the reference for measuring recall. */
  async searchVectorsExactly(vector: Float32Array, options: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    return table ? this.#queryVectors(table, vector, options, 'exact') : []
  }

  async #queryVectors(
    table: Table,
    vector: Float32Array,
    { columns, limit, filter }: SearchOptions,
    how: 'indexed' | 'exact',
  ): Promise<PassageRow[]> {
    const query = table.vectorSearch(vector).distanceType('dot')
    if (how === 'exact') query.bypassVectorIndex()
    else query.nprobes(PROBES)
    if (filter) query.where(toCondition(filter))
    return toRows(
      await query
        .select([...columns, '_distance'])
        .limit(limit)
        .toArrow(),
    )
  }

  /** The few matches of a narrow filter are spread over all partitions and cheap to compare exactly. */
  async #isNarrow(table: Table, filter: Filter): Promise<boolean> {
    const rows = await table.countRows()
    return rows > this.#exactRows && (await table.countRows(toCondition(filter))) < rows * NARROW_FILTER_SHARE
  }

  #repairInBackground(): void {
    if (this.#isRepairing) return
    this.#isRepairing = true
    this.repairIndices()
      .catch(() => undefined) // retried by the next query that fails, and at the next start
      .finally(() => {
        this.#isRepairing = false
      })
  }

  async list(filter: Filter, columns: readonly string[]): Promise<PassageRow[]> {
    const rows: PassageRow[] = []
    for await (const batch of this.listInBatches(filter, columns)) rows.push(...batch)
    return rows
  }

  /** Converting all passages of a large document at once would block the event loop and need much memory. */
  async *listInBatches(filter: Filter, columns: readonly string[]): AsyncGenerator<PassageRow[]> {
    const table = await this.#table()
    if (!table) return
    const query = table
      .query()
      .where(toCondition(filter))
      .select([...columns])
    for await (const batch of query) yield toRows(batch)
  }

  /** Creates missing indices, updates the others and removes old versions. */
  async optimize(): Promise<void> {
    await this.#commits.run(async () => {
      const table = await this.#table()
      if (!table || (await table.countRows()) === 0) return
      await this.#createMissingIndices(table)
      const optimized = () => table.optimize({ cleanupOlderThan: new Date(Date.now() - VERSION_RETENTION_MS) })
      try {
        await optimized()
      } catch {
        // LanceDB 0.30 can panic when it updates a full-text index after rows were deleted and added
        // (lance-index, inverted/builder.rs: index out of bounds). Rebuilding the index helps.
        for (const { name } of await table.listIndices()) await table.dropIndex(name)
        await this.#createMissingIndices(table)
        await optimized()
      }
    })
  }

  async #createMissingIndices(table: Table): Promise<void> {
    const { lancedb } = await this.#connect()
    const present = new Set((await table.listIndices()).flatMap(({ columns }) => columns))
    if (this.#schema.fullTextColumn && !present.has(this.#schema.fullTextColumn)) {
      // The text is already tokenized, folded and lower-cased. Only English stemming is left to the index.
      await table.createIndex(this.#schema.fullTextColumn, {
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
    for (const key of this.#schema.keys) if (!present.has(key)) await table.createIndex(key, { config: lancedb.Index.btree() })
    if ('vector' in this.#schema.columns && !present.has('vector') && (await table.countRows()) > this.#exactRows) {
      // Not IVF_RQ: in LanceDB 0.30 its recall drops to 0.6 after a deletion, with a filter or after compaction.
      await table.createIndex('vector', {
        config: lancedb.Index.ivfFlat({ distanceType: 'dot', numPartitions: PARTITIONS, ...TRAINING_OPTIONS }),
      })
    }
  }

  async waitUntilIdle(): Promise<void> {
    await this.#commits.waitUntilIdle()
  }

  async #table(): Promise<Table | undefined> {
    return (
      this.#opened ??
      this.#open(async ({ database }) => ((await database.tableNames()).includes(this.#name) ? database.openTable(this.#name) : undefined))
    )
  }

  /** A failed attempt is not cached. */
  async #open(how: (connection: LanceConnection) => Promise<Table | undefined>): Promise<Table | undefined> {
    const opened = this.#connect().then(how)
    this.#opened = opened
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }
}
