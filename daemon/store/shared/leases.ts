/** Leases: which daemon of a shared database does a piece of work. They end with the daemon, however it ends. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, type Reader, runLater, type Transaction } from '../database.ts'
import { retryWrite } from './retry-write.ts'

const HEARTBEAT_INTERVAL_MS = 4_000
/** Work of a daemon that ended is taken over after this time. */
const DAEMON_TIMEOUT_MS = 15_000
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

export interface LeaseLog {
  warn(details: object, message: string): void
}

export interface Leases {
  /** Returns its fence, or undefined if another daemon holds it. A daemon that holds it already gets it again. */
  claim(name: string): Promise<number | undefined>
  /** For work that is not repeated under this name: nothing of the lease remains, so its next fence is 1 again. */
  release(name: string): Promise<void>
  /** The same number as long as no lease of this daemon can have expired; undefined if they may have. */
  readonly term: number | undefined
  /** Calls the listeners regularly, in this order, so that they take over the work of daemons that ended. Never in a local file. */
  onTakeover(...listeners: (() => Promise<void>)[]): void
  close(): Promise<void>
}

/** The only daemon of a file holds everything. */
const LOCAL_LEASES: Leases = {
  claim: async () => 1,
  release: async () => undefined,
  term: 1,
  onTakeover() {},
  close: async () => undefined,
}

/** Must be called before the daemon does any work, so that others see it. */
export async function openLeases(database: Database, logger: LeaseLog): Promise<Leases> {
  if (!database.isShared) return LOCAL_LEASES
  const leases = new SharedLeases(database, logger)
  await leases.beat()
  leases.start()
  return leases
}

class SharedLeases implements Leases {
  readonly #database: Database
  readonly #logger: LeaseLog
  readonly #listeners: (() => Promise<void>)[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #term = 0
  #renewedAt = Number.NEGATIVE_INFINITY
  /** Start of the current series of successful heartbeats. */
  #aliveSince: number | undefined

  constructor(database: Database, logger: LeaseLog) {
    this.#database = database
    this.#logger = logger
  }

  start(): void {
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
    await this.#database.write((transaction) => transaction.run(sql, [getDaemonId(transaction), DAEMON_TIMEOUT_MS]))
    if (this.term === undefined) this.#term++
    this.#renewedAt = sentAt
    this.#aliveSince ??= performance.now()
  }

  claim(name: string): Promise<number | undefined> {
    return retryWrite(this.#database, (transaction) => claimLease(transaction, name))
  }

  async release(name: string): Promise<void> {
    const sql = 'DELETE FROM leases WHERE name = ? AND holder = ?'
    await this.#database.write((transaction) => transaction.run(sql, [name, getDaemonId(transaction)]))
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
        const id = getDaemonId(transaction)
        await Promise.all([
          transaction.run("UPDATE leases SET holder = '' WHERE holder = ?", [id]),
          transaction.run('DELETE FROM daemons WHERE id = ?', [id]),
        ])
      })
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'leases were not released; other daemons wait for their end'))
  }

  async #work(): Promise<void> {
    try {
      await this.beat()
      // After an outage of the server all leases have expired: the other daemons get the time to renew theirs first.
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

/** Runs the work while no other daemon does work of this name. */
export async function holdLease<T>(leases: Leases, name: string, work: () => Promise<T>): Promise<T> {
  await waitForLease(leases, name)
  try {
    return await work()
  } finally {
    await leases.release(name)
  }
}

export async function waitForLease(leases: Leases, name: string): Promise<void> {
  for (let delay = 20; !(await leases.claim(name)); delay = Math.min(2 * delay, 1_000)) await pause(delay)
}

const getDaemonId = ({ daemonId }: Transaction): string => daemonId as string

/**
 * In the transaction of the work that it protects, if possible. Returns the fence: a number that rises with each new holder. Work
 * outside of the database, such as an index, is published in a transaction that checks it with `holdsLease`.
 */
export async function claimLease(transaction: Transaction, name: string): Promise<number | undefined> {
  if (transaction.daemonId === undefined) return 1
  const claimed = await transaction.get<{ fence: number }>(
    `INSERT INTO leases (name, holder, fence) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET fence = fence + (holder <> excluded.holder),
      holder = excluded.holder WHERE holder = excluded.holder OR holder NOT IN (SELECT id FROM live_daemons) RETURNING fence`,
    [name, transaction.daemonId],
  )
  return claimed?.fence
}

/** Claims those of the leases that no live daemon holds, and returns their names. `names` is a query. */
export async function claimLeases(database: Database, names: string): Promise<string[]> {
  const isFree = "(holder = '' OR holder NOT IN (SELECT id FROM live_daemons))"
  const free = `SELECT * FROM (${names}) WHERE name NOT IN (SELECT name FROM leases WHERE NOT ${isFree})`
  if ((await database.get(`${free} LIMIT 1`)) === undefined) return []
  const sql = `INSERT INTO leases (name, holder, fence) SELECT name, ?, 1 FROM (${names}) WHERE true
    ON CONFLICT DO UPDATE SET fence = fence + 1, holder = excluded.holder WHERE ${isFree} RETURNING name`
  const claimed = await database.write((transaction) => transaction.all<{ name: string }>(sql, [getDaemonId(transaction)]))
  return claimed.map(({ name }) => name)
}

/** Whether no other daemon has claimed the lease since this one got the fence. */
export async function holdsLease(transaction: Transaction, name: string, fence: number): Promise<boolean> {
  if (transaction.daemonId === undefined) return true
  const sql = 'SELECT 1 FROM leases WHERE name = ? AND holder = ? AND fence = ?'
  return (await transaction.get(sql, [name, transaction.daemonId, fence])) !== undefined
}

/** The live daemon that holds the lease. */
export async function findHolder(reader: Reader, name: string): Promise<string | undefined> {
  const sql = 'SELECT holder FROM leases WHERE name = ? AND holder IN (SELECT id FROM live_daemons)'
  return (await reader.get<{ holder: string }>(sql, [name]))?.holder
}
