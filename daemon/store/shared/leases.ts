/** Leases: which daemon of a shared database does a piece of work. They end with the daemon, however it ends. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../database.ts'
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
  /** With `keepFence`, the next holder gets a higher fence. Without it, nothing of the lease remains. */
  release(name: string, keepFence?: boolean): Promise<void>
  /** Calls the listeners regularly, in this order, so that they take over the work of daemons that ended. Never in a local file. */
  onTakeover(...listeners: (() => Promise<void>)[]): void
  close(): Promise<void>
}

/** The only daemon of a file holds everything. */
const LOCAL_LEASES: Leases = {
  claim: async () => 1,
  release: async () => undefined,
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

  async beat(): Promise<void> {
    const sql = `INSERT INTO daemons (id, alive_until) VALUES (?, ${NOW} + ?) ON CONFLICT DO UPDATE SET alive_until = excluded.alive_until`
    await this.#database.write((transaction) => transaction.run(sql, [getDaemonId(transaction), DAEMON_TIMEOUT_MS]))
    this.#aliveSince ??= performance.now()
  }

  claim(name: string): Promise<number | undefined> {
    return retryWrite(this.#database, (transaction) => claimLease(transaction, name))
  }

  async release(name: string, keepFence = false): Promise<void> {
    const sql = `${keepFence ? "UPDATE leases SET holder = ''" : 'DELETE FROM leases'} WHERE name = ? AND holder = ?`
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
          transaction.run('DELETE FROM leases WHERE holder = ?', [id]),
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
      await this.#database.write((transaction) => transaction.run(`DELETE FROM daemons WHERE alive_until < ${NOW} - 3600000`))
      for (const listener of this.#listeners) await listener()
    } catch (error) {
      this.#aliveSince = undefined
      this.#logger.warn({ err: error }, 'the lease of this daemon could not be renewed')
    }
  }
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

/** Whether no other daemon has claimed the lease since this one got the fence. */
export async function holdsLease(transaction: Transaction, name: string, fence: number): Promise<boolean> {
  if (transaction.daemonId === undefined) return true
  const sql = 'SELECT 1 FROM leases WHERE name = ? AND holder = ? AND fence = ?'
  return (await transaction.get(sql, [name, transaction.daemonId, fence])) !== undefined
}
