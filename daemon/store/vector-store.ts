/** The LanceDB tables of passages. */
import { readdir } from 'node:fs/promises'
import { version } from '../../src/version.ts'
import { TableFiles } from './files/table-files.ts'
import { isRemote, type LanceConnection, type LanceOptions, openLance } from './lance.ts'
import type { DiskCache } from './objects/disk-cache.ts'
import type { S3Client } from './objects/s3-client.ts'
import { translateLanceError } from './objects/storage-errors.ts'
import { TableMirror } from './objects/table-mirror.ts'
import { PassageTable, type TableSchema } from './passage-table.ts'
import { MIN_QUANTIZED_ROWS } from './table-indexes/vector-index.ts'

/** Larger tables use an approximate index, which is built in the background. */
const MAX_EXACT_ROWS = 20_000

interface VectorStoreOptions {
  /** Of object storage, or of LanceDB Cloud. */
  lance?: LanceOptions
  /** The bucket that the URI names, and the cache for copies of its tables. */
  bucket?: { client: S3Client; cache: DiskCache }
  /** File in which a stop records the files of the tables, so that the next start does not check them. */
  stopRecord?: string
  /** Larger tables have an index of codes. */
  quantizedRows?: number
}

/** Below the prefix of the bucket, and in the cache. */
export const VECTORS_FOLDER = 'vectors'

export class VectorStore {
  readonly #uri: string
  readonly #exactRows: number
  readonly #options: VectorStoreOptions
  /** Undefined if the tables are in a bucket or on a server. */
  readonly #files: TableFiles | undefined
  readonly #tables = new Map<string, PassageTable>()
  #isUnchanged = false
  #connection: Promise<LanceConnection> | undefined
  #copies: Promise<LanceConnection> | undefined

  constructor(uri: string, exactRows = MAX_EXACT_ROWS, options: VectorStoreOptions = {}) {
    this.#uri = uri
    this.#exactRows = exactRows
    this.#options = options
    this.#files = isRemote(uri) ? undefined : new TableFiles(uri, options.stopRecord, `${version} ${exactRows}`)
  }

  /** Whether other daemons use it, or the tables are on a server. */
  get isRemote(): boolean {
    return isRemote(this.#uri)
  }

  /** The URL of the bucket, or of the server; undefined for a folder. */
  get location(): string | undefined {
    return this.#options.bucket?.client.location ?? (this.isRemote ? this.#uri : undefined)
  }

  /** Throws if the store is not readable. Does not load LanceDB. */
  async ping(): Promise<void> {
    if (this.#options.bucket) await this.#options.bucket.client.measureLatency()
    else if (this.isRemote) await this.listNames()
    else await readdir(this.#uri)
  }

  table(name: string, shape: TableSchema): PassageTable {
    const known = this.#tables.get(name)
    if (known) return known
    const { lance, quantizedRows = MIN_QUANTIZED_ROWS } = this.#options
    const location = { name, uri: this.#uri, lance, mirror: this.#createMirror(name), files: this.#files }
    const options = { connect: () => this.#connect(), ...location, quantizedRows }
    const table = new PassageTable(options, shape, this.#exactRows)
    this.#tables.set(name, table)
    return table
  }

  async drop(name: string): Promise<void> {
    const dropped = this.#tables.get(name)
    this.#tables.delete(name)
    await dropped?.close()
    try {
      const { database } = await this.#connect()
      if ((await database.tableNames()).includes(name)) await database.dropTable(name)
      await this.#files?.removeTable(name)
    } catch (error) {
      throw translateLanceError(error, this.#uri)
    }
    this.#tables.delete(name) // may have been opened again meanwhile
  }

  /** A folder is not opened for this. */
  async listNames(): Promise<string[]> {
    return this.#files ? this.#files.listTables() : (await this.#connect()).database.tableNames()
  }

  /** Finds out whether the tables are as the last daemon left them when it stopped. Must be called before a table is opened. */
  async compareWithStop(): Promise<void> {
    await this.#files?.undoRewrites()
    this.#isUnchanged = (await this.#files?.takeStopRecord()) ?? false
  }

  /** Whether the tables were unchanged at the start, so that they need no check. */
  get isUnchanged(): boolean {
    return this.#isUnchanged
  }

  async close(): Promise<void> {
    const tables = [...this.#tables.values()]
    const areComplete = tables.every((table) => !table.isIndexing)
    await Promise.all(tables.map((table) => table.close()))
    for (const connection of [this.#connection, this.#copies]) (await connection?.catch(() => undefined))?.database.close()
    if (areComplete) await this.#files?.recordStop()
  }

  #createMirror(name: string): TableMirror | undefined {
    const { bucket } = this.#options
    if (!bucket) return undefined
    const copyName = `${VECTORS_FOLDER}/${name}.lance`
    const openCopy = async () => (await this.#connectCopies(bucket.cache)).database.openTable(name)
    return new TableMirror({ ...bucket, prefix: `${copyName}/`, copyName, openCopy })
  }

  #connectCopies(cache: DiskCache): Promise<LanceConnection> {
    this.#copies ??= openLance(cache.getPath(VECTORS_FOLDER))
    return this.#copies
  }

  /** Loads LanceDB (150 MB and 0.2 s) on first use. */
  #connect(): Promise<LanceConnection> {
    this.#connection ??= openLance(this.#uri, this.#options.lance).catch((error) => {
      this.#connection = undefined // the next call tries again
      throw error
    })
    return this.#connection
  }
}
