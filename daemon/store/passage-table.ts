/** A table of passages, searched by words or by nearness, and the indices that keep up with it. */
import { arrowTable, type Columns, type PassageRow, rowsOf } from './arrow.ts'
import { CommitQueue } from './commit-queue.ts'
import { condition, type Filter } from './filter.ts'
import type { Lance, Table } from './lance.ts'

export interface SearchOptions {
  columns: readonly string[]
  limit: number
  filter?: Filter
}

export interface TableShape {
  columns: Columns
  /** Looked up by equality. */
  keys: readonly string[]
  /** Searched by words. */
  words?: string
}

/**
 * The share that is compared stays the same however large the table grows, and so does what is found: 0.98 of the nearest 100.
 * With fewer passes and samples than is usual, partitions are made in a third of the time and find as much.
 */
const PARTITIONS = 256
const PROBES = 96
const TRAINING = { maxIterations: 15, sampleRate: 64 }
/** Of what a filter leaves of a table, at least this share must be left for the nearest partitions to hold the nearest rows. */
const NARROW = 0.1
/** A version nobody reads any more is removed after this long: a query may still be on it. */
const VERSION_KEPT_MS = 60_000

export class PassageTable {
  readonly #connection: Promise<Lance>
  readonly #name: string
  readonly #shape: TableShape
  readonly #exactRows: number
  readonly #commits = new CommitQueue()
  #opened: Promise<Table | undefined> | undefined
  #mending = false

  constructor(connection: Promise<Lance>, name: string, shape: TableShape, exactRows: number) {
    this.#connection = connection
    this.#name = name
    this.#shape = shape
    this.#exactRows = exactRows
  }

  async add(rows: readonly PassageRow[]): Promise<void> {
    if (rows.length === 0) return
    const data = arrowTable(this.#shape.columns, rows)
    await this.#commits.run(async () => {
      const table = await this.#table()
      if (table) await table.add(data as never)
      else await this.#open(({ database }) => database.createTable(this.#name, data as never))
    })
  }

  async remove(filter: Filter): Promise<void> {
    await this.#commits.run(async () => {
      const table = await this.#table()
      await table?.delete(condition(filter))
    })
  }

  /** Rows that can be read: a count alone is answered by the manifest, whether its files are there or not. */
  async readable(): Promise<number> {
    const table = await this.#table()
    const [smallest] = Object.keys(this.#shape.columns).filter((column) => this.#shape.columns[column] === 'integer')
    let rows = 0
    if (table) for await (const batch of table.query().select([smallest as string])) rows += batch.numRows
    return rows
  }

  /** Indices that cannot be read are made again; LanceDB lists only those that can. */
  async mendIndices(): Promise<void> {
    const { words, keys, columns } = this.#shape
    const indexed = [...(words ? [words] : []), ...keys, ...('vector' in columns ? ['vector'] : [])]
    const broken = await this.#commits.run(async () => {
      const table = await this.#table()
      const found: string[] = []
      if (table) for (const column of indexed) if (!(await this.#answers(table, column))) found.push(column)
      for (const column of found) await table?.dropIndex(`${column}_idx`)
      return found
    })
    if (broken.length > 0) await this.tidy()
  }

  async #answers(table: Table, column: string): Promise<boolean> {
    try {
      if (column === this.#shape.words) await this.matching('a', { columns: [], limit: 1 })
      else if (this.#shape.columns[column] === 'text') await this.where({ [column]: '' }, [column])
      else {
        const [row] = rowsOf(await table.query().select([column]).limit(1).toArrow())
        if (row) await this.#near(table, Float32Array.from(row[column] as Float32Array), { columns: [], limit: 1 }, 'indexed')
      }
      return true
    } catch {
      return false // whatever is wrong with it, it is made again
    }
  }

  /** Rows whose words match, best first, with their `_score`. */
  async matching(words: string, { columns, limit, filter }: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table || words === '') return []
    let query = table.query().fullTextSearch(words, { columns: [this.#shape.words as string] })
    if (filter) query = query.where(condition(filter))
    return rowsOf(
      await query
        .select([...columns, '_score'])
        .limit(limit)
        .toArrow(),
    )
  }

  /** Rows nearest to a normalised vector, nearest first, with their `_distance` (1 less the cosine). */
  async nearest(vector: Float32Array, options: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table) return []
    if (options.filter && (await this.#isNarrow(table, options.filter))) return this.#near(table, vector, options, 'exact')
    try {
      return await this.#near(table, vector, options, 'indexed')
    } catch {
      // Whatever is wrong with the index, its absence costs time and no answers.
      this.#mendSoon()
      return this.#near(table, vector, options, 'exact')
    }
  }

  /** The same without the index: what `nearest` is measured against. */
  async nearestOfAll(vector: Float32Array, options: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    return table ? this.#near(table, vector, options, 'exact') : []
  }

  async #near(
    table: Table,
    vector: Float32Array,
    { columns, limit, filter }: SearchOptions,
    how: 'indexed' | 'exact',
  ): Promise<PassageRow[]> {
    const query = table.vectorSearch(vector).distanceType('dot')
    if (how === 'exact') query.bypassVectorIndex()
    else query.nprobes(PROBES)
    if (filter) query.where(condition(filter))
    return rowsOf(
      await query
        .select([...columns, '_distance'])
        .limit(limit)
        .toArrow(),
    )
  }

  /** The few rows that a narrow filter leaves lie anywhere, and are soon compared. */
  async #isNarrow(table: Table, filter: Filter): Promise<boolean> {
    const rows = await table.countRows()
    return rows > this.#exactRows && (await table.countRows(condition(filter))) < rows * NARROW
  }

  #mendSoon(): void {
    if (this.#mending) return
    this.#mending = true
    this.mendIndices()
      .catch(() => undefined) // tried again at the next query that meets it, and at the next start
      .finally(() => {
        this.#mending = false
      })
  }

  async where(filter: Filter, columns: readonly string[]): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table) return []
    const rows: PassageRow[] = []
    // Batch by batch: all the passages of a large document at once would hold up the event loop.
    const query = table
      .query()
      .where(condition(filter))
      .select([...columns])
    for await (const batch of query) for (const row of rowsOf(batch)) rows.push(row)
    return rows
  }

  /** Makes missing indices, brings the others up to date, and removes what is no longer read. */
  async tidy(): Promise<void> {
    await this.#commits.run(async () => {
      const table = await this.#table()
      if (!table || (await table.countRows()) === 0) return
      await this.#index(table)
      const optimized = () => table.optimize({ cleanupOlderThan: new Date(Date.now() - VERSION_KEPT_MS) })
      try {
        await optimized()
      } catch {
        // LanceDB 0.30 can panic while it brings a full-text index up to date after rows went and others came
        // (lance-index, inverted/builder.rs: index out of bounds). Made anew, the index is well.
        for (const { name } of await table.listIndices()) await table.dropIndex(name)
        await this.#index(table)
        await optimized()
      }
    })
  }

  async #index(table: Table): Promise<void> {
    const { lancedb } = await this.#connection
    const present = new Set((await table.listIndices()).flatMap(({ columns }) => columns))
    if (this.#shape.words && !present.has(this.#shape.words)) {
      // Words come analysed: cut, folded and lower-cased. Only English endings are left to the index.
      await table.createIndex(this.#shape.words, {
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
    for (const key of this.#shape.keys) if (!present.has(key)) await table.createIndex(key, { config: lancedb.Index.btree() })
    if ('vector' in this.#shape.columns && !present.has('vector') && (await table.countRows()) > this.#exactRows) {
      // Not IVF_RQ: LanceDB 0.30 finds 0.6 of the nearest with it as soon as a row was deleted or a filter is given, and after a compaction without them.
      await table.createIndex('vector', { config: lancedb.Index.ivfFlat({ distanceType: 'dot', numPartitions: PARTITIONS, ...TRAINING }) })
    }
  }

  async settled(): Promise<void> {
    await this.#commits.settled()
  }

  async #table(): Promise<Table | undefined> {
    return (
      this.#opened ??
      this.#open(async ({ database }) => ((await database.tableNames()).includes(this.#name) ? database.openTable(this.#name) : undefined))
    )
  }

  /** A failure is not remembered: the next one tries again. */
  async #open(how: (connection: Lance) => Promise<Table | undefined>): Promise<Table | undefined> {
    const opened = this.#connection.then(how)
    this.#opened = opened
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }
}
