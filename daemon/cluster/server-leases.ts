/** Leases in a table of the server. Each daemon renews a row; its leases end with that row. */
import { type Database, listColumn, runLater, type Transaction } from '../store/database.ts'
import { retryWrite } from '../store/remote/retry-write.ts'
import type { ClusterLog, Leases } from './cluster.ts'

const HEARTBEAT_INTERVAL_MS = 4_000
/** Work of a daemon that ended is taken over after this time. */
const DAEMON_TIMEOUT_MS = 15_000
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

export class ServerLeases implements Leases {
  readonly #database: Database
  readonly #daemonId: string
  readonly #logger: ClusterLog
  readonly #listeners: (() => Promise<void>)[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #term = 0
  #renewedAt = Number.NEGATIVE_INFINITY
  /** Start of the current series of successful heartbeats. */
  #aliveSince: number | undefined

  constructor(database: Database, daemonId: string, logger: ClusterLog) {
    this.#database = database
    this.#daemonId = daemonId
    this.#logger = logger
  }

  async start(): Promise<void> {
    await this.beat()
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#work())
    }, HEARTBEAT_INTERVAL_MS)
    this.#timer.unref()
  }

  get term(): number | undefined {
    return performance.now() - this.#renewedAt < DAEMON_TIMEOUT_MS ? this.#term : undefined
  }

  async beat(): Promise<void> {
    const sentAt = performance.now()
    const sql = `INSERT INTO daemons (id, alive_until) VALUES (?, ${NOW} + ?) ON CONFLICT DO UPDATE SET alive_until = excluded.alive_until`
    await this.#database.write((transaction) => transaction.run(sql, [this.#daemonId, DAEMON_TIMEOUT_MS]))
    if (this.term === undefined) {
      this.#term++
      this.#aliveSince = undefined
    }
    this.#renewedAt = sentAt
    this.#aliveSince ??= performance.now()
  }

  async claim(name: string, transaction?: Transaction): Promise<number | undefined> {
    if (!transaction) return retryWrite(this.#database, (own) => this.claim(name, own))
    const claimed = await transaction.get<{ fence: number }>(
      `INSERT INTO leases (name, holder, fence) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET fence = fence + (holder <> excluded.holder),
        holder = excluded.holder WHERE holder = excluded.holder OR holder NOT IN (SELECT id FROM live_daemons) RETURNING fence`,
      [name, this.#daemonId],
    )
    return claimed?.fence
  }

  async holds(transaction: Transaction, name: string, fence: number): Promise<boolean> {
    const sql = 'SELECT 1 FROM leases WHERE name = ? AND holder = ? AND fence = ?'
    return (await transaction.get(sql, [name, this.#daemonId, fence])) !== undefined
  }

  async claimAbandoned(names: string): Promise<string[]> {
    const isFree = "(holder = '' OR holder NOT IN (SELECT id FROM live_daemons))"
    const free = `SELECT * FROM (${names}) WHERE name NOT IN (SELECT name FROM leases WHERE NOT ${isFree})`
    if ((await this.#database.get(`${free} LIMIT 1`)) === undefined) return []
    const sql = `INSERT INTO leases (name, holder, fence) SELECT name, ?, 1 FROM (${names}) WHERE true
      ON CONFLICT DO UPDATE SET fence = fence + 1, holder = excluded.holder WHERE ${isFree} RETURNING name`
    return this.#database.write((transaction) => listColumn(transaction, sql, [this.#daemonId]))
  }

  async findHolder(name: string): Promise<string | undefined> {
    const sql = 'SELECT holder FROM leases WHERE name = ? AND holder <> ? AND holder IN (SELECT id FROM live_daemons)'
    return (await this.#database.get<{ holder: string }>(sql, [name, this.#daemonId]))?.holder
  }

  async remove(name: string): Promise<void> {
    await this.#database.write((transaction) => transaction.run('DELETE FROM leases WHERE name = ?', [name]))
  }

  async release(name: string): Promise<void> {
    const sql = 'DELETE FROM leases WHERE name = ? AND holder = ?'
    await this.#database.write((transaction) => transaction.run(sql, [name, this.#daemonId]))
  }

  onTakeover(...listeners: (() => Promise<void>)[]): void {
    this.#listeners.push(...listeners)
  }

  /** Others take over at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
    await this.#database
      .write(async (transaction) => {
        await Promise.all([
          transaction.run("UPDATE leases SET holder = '' WHERE holder = ?", [this.#daemonId]),
          transaction.run('DELETE FROM daemons WHERE id = ?', [this.#daemonId]),
        ])
      })
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'leases were not released; other daemons wait for their end'))
  }

  async #work(): Promise<void> {
    try {
      await this.beat()
      // After an outage of the server or a pause of the machine, all leases have expired: others get the time to renew theirs first.
      if (performance.now() - (this.#aliveSince as number) < DAEMON_TIMEOUT_MS) return
      await this.#database.write(removeEndedDaemons)
      for (const listener of this.#listeners) await listener()
    } catch (error) {
      this.#aliveSince = undefined
      this.#logger.warn({ err: error }, 'the lease of this daemon could not be renewed')
    }
  }
}

/** Also removes what they left behind. */
async function removeEndedDaemons(transaction: Transaction): Promise<void> {
  const isEnded = 'NOT IN (SELECT id FROM live_daemons)'
  await runLater(transaction, `DELETE FROM daemon_requests WHERE sender ${isEnded} OR receiver ${isEnded}`)
  await runLater(transaction, `DELETE FROM leases WHERE name LIKE 'idempotency/%' AND holder ${isEnded}`)
  await transaction.run(`DELETE FROM daemons WHERE alive_until < ${NOW} - 3600000`)
}
