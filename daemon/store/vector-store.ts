/** The LanceDB tables of passages. */
import { readdir } from 'node:fs/promises'
import { type LanceConnection, openLance } from './lance.ts'
import { PassageTable, type TableSchema } from './passage-table.ts'

/** Larger tables use an approximate index, which is built in the background. */
const MAX_EXACT_ROWS = 20_000

export class VectorStore {
  readonly #uri: string
  readonly #exactRows: number
  readonly #tables = new Map<string, PassageTable>()
  #connection: Promise<LanceConnection> | undefined

  constructor(uri: string, exactRows = MAX_EXACT_ROWS) {
    this.#uri = uri
    this.#exactRows = exactRows
  }

  /** Throws if the store is not readable. Does not load LanceDB. */
  async ping(): Promise<void> {
    await readdir(this.#uri)
  }

  table(name: string, shape: TableSchema): PassageTable {
    const known = this.#tables.get(name)
    if (known) return known
    const table = new PassageTable(this.#uri, () => this.#connect(), name, shape, this.#exactRows)
    this.#tables.set(name, table)
    return table
  }

  async drop(name: string): Promise<void> {
    const dropped = this.#tables.get(name)
    this.#tables.delete(name)
    await dropped?.close()
    const { database } = await this.#connect()
    if ((await database.tableNames()).includes(name)) await database.dropTable(name)
    this.#tables.delete(name) // may have been opened again meanwhile
  }

  /** An empty store is not opened for this. */
  async listNames(): Promise<string[]> {
    if (!this.#connection && (await readdir(this.#uri)).length === 0) return []
    return (await this.#connect()).database.tableNames()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tables.values()].map((table) => table.close()))
    const open = await this.#connection?.catch(() => undefined)
    open?.database.close()
  }

  /** Loads LanceDB (150 MB and 0.2 s) on first use. */
  #connect(): Promise<LanceConnection> {
    this.#connection ??= openLance(this.#uri).catch((error) => {
      this.#connection = undefined // the next call tries again
      throw error
    })
    return this.#connection
  }
}
