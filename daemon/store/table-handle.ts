/** Opens a LanceDB table for commits, and for queries from a copy on the local disk if the table is in a bucket. */
import type { TableFiles } from './files/table-files.ts'
import { isManaged, isRemote, type LanceConnection, type LanceOptions, type Table } from './lance.ts'
import { translateLanceError } from './objects/storage-errors.ts'
import type { TableMirror } from './objects/table-mirror.ts'
import { buildVectorIndex } from './table-indexes/build-vector-index.ts'

export interface TableOptions {
  connect: () => Promise<LanceConnection>
  name: string
  /** Of the database. */
  uri: string
  lance: LanceOptions | undefined
  /** Answers queries if the table is in a bucket. */
  mirror: TableMirror | undefined
  /** Undefined if the table is in a bucket or on a server. */
  files: TableFiles | undefined
  /** A table with at least as many rows gets an index of codes. */
  quantizedRows: number
}

/** Of a commit that conflicts with one of another daemon. */
const MAX_COMMIT_ATTEMPTS = 5

export class TableHandle {
  readonly #options: TableOptions
  #lastCommit: Promise<unknown> = Promise.resolve()
  #opened: Promise<Table | undefined> | undefined

  constructor(options: TableOptions) {
    this.#options = options
  }

  /** Whether other daemons read and write it. */
  get isRemote(): boolean {
    return isRemote(this.#options.uri)
  }

  /** Whether a server of LanceDB builds its indexes and removes old versions. */
  get isManaged(): boolean {
    return isManaged(this.#options.uri)
  }

  /** Runs one commit at a time. Resolves when it is on disk. The table is undefined if it does not exist. */
  async commit<T>(work: (table: Table | undefined) => Promise<T>): Promise<T> {
    const { files, name } = this.#options
    const commit = async () => {
      const result = await work(await this.open())
      await files?.flush(name)
      return result
    }
    const turn = this.#lastCommit.then(() => retryConflicts(commit))
    this.#lastCommit = turn.catch(() => undefined) // the caller gets the error; the next commit runs
    try {
      return await this.#translate(() => turn)
    } finally {
      this.#options.mirror?.expire() // the caller must see its commit
    }
  }

  /** Runs work that writes all rows to new files, in a commit of its table. */
  async rewrite(work: () => Promise<void>): Promise<void> {
    const { files, name } = this.#options
    await files?.beginRewrite(name)
    try {
      await work()
    } catch (error) {
      await files?.flush(name) // what it has committed is valid, and later commits must not be undone
      throw error
    }
  }

  /** Runs a query. Commits of other daemons are visible within two seconds. Returns undefined if the table does not exist. */
  async query<T>(work: (table: Table) => Promise<T>): Promise<T | undefined> {
    return this.#translate(async () => {
      const copy = await this.#options.mirror?.open()
      const table = copy ?? (await this.open())
      if (!table) return undefined
      if (!copy) return work(table)
      try {
        return await work(copy)
      } catch {
        // The copy may have been removed from the cache.
        this.#options.mirror?.expire()
        const original = await this.open()
        return original && work(original)
      }
    })
  }

  async create(data: object): Promise<void> {
    await this.#open(({ database }) => database.createTable(this.#options.name, data as never))
  }

  /** For reads that must see the newest commit. Returns undefined if the table does not exist. */
  async open(): Promise<Table | undefined> {
    const { name } = this.#options
    if (this.#opened) return this.#opened
    const opened = this.#open(async ({ database }) => ((await database.tableNames()).includes(name) ? database.openTable(name) : undefined))
    if (!this.isRemote) return opened
    const table = await this.#translate(() => opened)
    // Another daemon may create it at any time.
    if (!table && this.#opened === opened) this.#opened = undefined
    return table
  }

  /** In a process of its own. */
  async buildVectorIndex(signal: AbortSignal): Promise<void> {
    const { uri, name, lance, quantizedRows, mirror, files } = this.#options
    await buildVectorIndex({ uri, name, lance, quantizedRows }, signal)
    await files?.flush(name)
    await (await this.open())?.checkoutLatest()
    mirror?.expire()
  }

  translateError(error: unknown): unknown {
    return translateLanceError(error, this.#options.uri)
  }

  async waitUntilIdle(): Promise<void> {
    await this.#lastCommit
  }

  /** A failed attempt is not cached. */
  #open(how: (connection: LanceConnection) => Promise<Table | undefined>): Promise<Table | undefined> {
    const opened = this.#options.connect().then(how)
    this.#opened = opened
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }

  async #translate<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.translateError(error)
    }
  }
}

async function retryConflicts<T>(commit: () => Promise<T>): Promise<T> {
  for (let left = MAX_COMMIT_ATTEMPTS - 1; ; left--) {
    try {
      return await commit()
    } catch (error) {
      if (left === 0 || !/conflict/i.test(String((error as Error).message))) throw error
    }
  }
}
