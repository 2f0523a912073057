/** Vectors and full text in LanceDB: the tables of passages there are. */
import { type LanceConnection, openLance } from './lance.ts'
import { PassageTable, type TableSchema } from './passage-table.ts'

/** Up to here every vector is compared; beyond, those of the nearest partitions. */
const MAX_EXACT_ROWS = 100_000

export class VectorStore {
  readonly #connection: Promise<LanceConnection>
  readonly #exactRows: number
  readonly #tables = new Map<string, PassageTable>()

  /** LanceDB is loaded in the background: the daemon answers before its 150 MB are in memory. */
  constructor(uri: string, { exactRows = MAX_EXACT_ROWS }: { exactRows?: number } = {}) {
    this.#exactRows = exactRows
    this.#connection = openLance(uri)
    this.#connection.catch(() => undefined) // ping tells; an unheard rejection would end the process
  }

  /** Resolves when the store can be read. */
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
    this.#tables.delete(name) // whoever asked for it meanwhile has opened what is no more
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
