/** The LanceDB tables of passages. */
import { type LanceConnection, openLance } from './lance.ts'
import { PassageTable, type TableSchema } from './passage-table.ts'

/** Larger tables use an approximate index. */
const MAX_EXACT_ROWS = 100_000

export class VectorStore {
  readonly #connection: Promise<LanceConnection>
  readonly #exactRows: number
  readonly #tables = new Map<string, PassageTable>()

  /** Loads LanceDB (150 MB) in the background, so that the daemon starts without waiting for it. */
  constructor(uri: string, { exactRows = MAX_EXACT_ROWS }: { exactRows?: number } = {}) {
    this.#exactRows = exactRows
    this.#connection = openLance(uri)
    this.#connection.catch(() => undefined) // reported by ping(); an unhandled rejection would end the process
  }

  /** Throws if the store is not readable. */
  async ping(): Promise<void> {
    await (await this.#connection).database.tableNames()
  }

  table(name: string, shape: TableSchema): PassageTable {
    const known = this.#tables.get(name)
    if (known) return known
    const table = new PassageTable(this.#connection, name, shape, this.#exactRows)
    this.#tables.set(name, table)
    return table
  }

  async drop(name: string): Promise<void> {
    this.#tables.delete(name)
    const { database } = await this.#connection
    if ((await database.tableNames()).includes(name)) await database.dropTable(name)
    this.#tables.delete(name) // may have been opened again meanwhile
  }

  async listNames(): Promise<string[]> {
    return (await this.#connection).database.tableNames()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tables.values()].map((table) => table.waitUntilIdle()))
    const open = await this.#connection.catch(() => undefined)
    open?.database.close()
  }
}
