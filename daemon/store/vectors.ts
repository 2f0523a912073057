/** Vectors and full text in LanceDB, which only this file opens: tables of passages, searched by words or by nearness. */
import type { Connection, Table } from '@lancedb/lancedb'
import { prepareForLance } from '../../src/config.ts'
import { arrowTable, type Columns, type PassageRow, rowsOf } from './arrow.ts'
import { CommitQueue } from './commit-queue.ts'

export type { PassageRow } from './arrow.ts'

/** Conditions on columns, all of which must hold. Values are values: they are quoted here and nowhere else. */
export type Filter = Record<string, string | number | readonly (string | number)[] | { below: number }>

export interface SearchOptions {
  columns: readonly string[]
  limit: number
  filter?: Filter
}

interface TableShape {
  columns: Columns
  /** Looked up by equality. */
  keys: readonly string[]
  /** Searched by words. */
  words?: string
}

/** Caches would grow to 7 GB by default. */
const INDEX_CACHE = 256n * 1024n * 1024n
const METADATA_CACHE = 64n * 1024n * 1024n
/** Up to here every vector is compared; beyond, an index finds candidates that are then compared exactly. */
const EXACT_ROWS = 100_000
const REFINE = 20
const PROBES = 50
/** A version nobody reads any more is removed after this long: a query may still be on it. */
const VERSION_KEPT_MS = 60_000

type Lance = typeof import('@lancedb/lancedb')

export class Vectors {
  readonly #connection: Promise<{ lance: Lance; database: Connection }>
  readonly #tables = new Map<string, PassageTable>()

  /** LanceDB is loaded in the background: the daemon answers before its 150 MB are in memory. */
  constructor(uri: string) {
    prepareForLance()
    this.#connection = import('@lancedb/lancedb').then(async (lance) => ({
      lance,
      database: await lance.connect(uri, {}, new lance.Session(INDEX_CACHE, METADATA_CACHE)),
    }))
    this.#connection.catch(() => undefined) // ping tells; an unheard rejection would end the process
  }

  /** Resolves when the store can be read. */
  async ping(): Promise<void> {
    await (await this.#connection).database.tableNames()
  }

  table(name: string, shape: TableShape): PassageTable {
    const known = this.#tables.get(name)
    if (known) return known
    const table = new PassageTable(this.#connection, name, shape)
    this.#tables.set(name, table)
    return table
  }

  async drop(name: string): Promise<void> {
    this.#tables.delete(name)
    const { database } = await this.#connection
    if ((await database.tableNames()).includes(name)) await database.dropTable(name)
    this.#tables.delete(name) // whoever asked for it meanwhile has opened what is no more
  }

  async names(): Promise<string[]> {
    return (await this.#connection).database.tableNames()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tables.values()].map((table) => table.settled()))
    const open = await this.#connection.catch(() => undefined)
    open?.database.close()
  }
}

export class PassageTable {
  readonly #connection: Promise<{ lance: Lance; database: Connection }>
  readonly #name: string
  readonly #shape: TableShape
  readonly #commits = new CommitQueue()
  #opened: Promise<Table | undefined> | undefined

  constructor(connection: Promise<{ lance: Lance; database: Connection }>, name: string, shape: TableShape) {
    this.#connection = connection
    this.#name = name
    this.#shape = shape
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
        if (row) await this.nearest(Float32Array.from(row[column] as Float32Array), { columns: [], limit: 1 })
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
  async nearest(vector: Float32Array, { columns, limit, filter }: SearchOptions): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table) return []
    let query = table.vectorSearch(vector).distanceType('dot').nprobes(PROBES).refineFactor(REFINE)
    if (filter) query = query.where(condition(filter))
    return rowsOf(
      await query
        .select([...columns, '_distance'])
        .limit(limit)
        .toArrow(),
    )
  }

  async where(filter: Filter, columns: readonly string[]): Promise<PassageRow[]> {
    const table = await this.#table()
    if (!table) return []
    return rowsOf(
      await table
        .query()
        .where(condition(filter))
        .select([...columns])
        .toArrow(),
    )
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
    const { lance } = await this.#connection
    const present = new Set((await table.listIndices()).flatMap(({ columns }) => columns))
    if (this.#shape.words && !present.has(this.#shape.words)) {
      // Words come analysed: cut, folded and lower-cased. Only English endings are left to the index.
      await table.createIndex(this.#shape.words, {
        config: lance.Index.fts({
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
    for (const key of this.#shape.keys) if (!present.has(key)) await table.createIndex(key, { config: lance.Index.btree() })
    if ('vector' in this.#shape.columns && !present.has('vector') && (await table.countRows()) > EXACT_ROWS) {
      await table.createIndex('vector', { config: lance.Index.ivfRq({ distanceType: 'dot' }) })
    }
  }

  async settled(): Promise<void> {
    await this.#commits.settled()
  }

  async #table(): Promise<Table | undefined> {
    return this.#opened ?? this.#open(async ({ database }) => ((await database.tableNames()).includes(this.#name) ? database.openTable(this.#name) : undefined))
  }

  /** A failure is not remembered: the next one tries again. */
  async #open(how: (connection: { lance: Lance; database: Connection }) => Promise<Table | undefined>): Promise<Table | undefined> {
    const opened = this.#connection.then(how)
    this.#opened = opened
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }
}

function condition(filter: Filter): string {
  const parts = Object.entries(filter).map(([column, wanted]) => {
    if (Array.isArray(wanted)) return wanted.length === 0 ? 'false' : `${column} IN (${wanted.map(literal).join(', ')})`
    if (typeof wanted === 'object') return `${column} < ${literal((wanted as { below: number }).below)}`
    return `${column} = ${literal(wanted)}`
  })
  return parts.length === 0 ? 'true' : parts.join(' AND ')
}

function literal(value: string | number): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  if (!Number.isFinite(value)) throw new Error(`${value} cannot be compared with`)
  return String(value)
}
