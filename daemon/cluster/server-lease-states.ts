/** Stores what this daemon tells the others about the work of its leases, in the rows of the leases. */
import type { Database, DatabaseReader } from '../store/database.ts'
import type { ClusterLog, LeaseStates } from './cluster.ts'

const STORE_INTERVAL_MS = 300

export class ServerLeaseStates implements LeaseStates {
  readonly #database: Database
  readonly #daemonId: string
  readonly #logger: ClusterLog
  /** Leases whose state has changed. */
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #getState: (name: string) => unknown = () => undefined
  #onLost: (name: string) => void = () => {}

  constructor(database: Database, daemonId: string, logger: ClusterLog) {
    this.#database = database
    this.#daemonId = daemonId
    this.#logger = logger
  }

  provide(getState: (name: string) => unknown, onLost: (name: string) => void): void {
    this.#getState = getState
    this.#onLost = onLost
  }

  async store(name: string): Promise<void> {
    const sql = 'UPDATE leases SET state = ? WHERE name = ? AND holder = ?'
    const values = [JSON.stringify(this.#getState(name)), name, this.#daemonId]
    if ((await this.#database.write((transaction) => transaction.run(sql, values))) !== 1) this.#onLost(name)
  }

  announce(name: string): void {
    this.#changed.add(name)
    this.#schedule()
  }

  async read<T>(reader: DatabaseReader, name: string): Promise<T | undefined> {
    const sql = 'SELECT state FROM leases WHERE name = ? AND holder <> ?'
    const row = await reader.get<{ state: string | null }>(sql, [name, this.#daemonId])
    return row?.state ? (JSON.parse(row.state) as T) : undefined
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#storeChanged(), STORE_INTERVAL_MS).unref()
  }

  async #storeChanged(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    try {
      for (const name of changed) await this.store(name)
    } catch (error) {
      this.#logger.warn({ err: error }, 'the progress of work could not be stored for other daemons')
    } finally {
      this.#timer = undefined
      if (this.#changed.size > 0) this.#schedule()
    }
  }
}
