/** Exchanges counts, such as the requests per token, with the other daemons. */
import type { Database, Transaction } from '../store/database.ts'
import type { ClusterLog, SharedCounts } from './cluster.ts'

/** A write per request would cost more than most requests. A limit is exceeded by at most what others accept in this time. */
const EXCHANGE_INTERVAL_MS = 1_000
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

export class CountExchange {
  readonly #database: Database
  readonly #counts: SharedCounts
  readonly #logger: ClusterLog
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()

  constructor(database: Database, counts: SharedCounts, logger: ClusterLog) {
    this.#database = database
    this.#counts = counts
    this.#logger = logger
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#exchange())
    }, EXCHANGE_INTERVAL_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  async #exchange(): Promise<void> {
    const counts = this.#counts.takeUnreported()
    if (counts.length === 0) return
    try {
      const totals = await this.#database.write((transaction) => addCounts(transaction, counts, this.#counts.windowMs))
      for (const { key, used, left } of totals) this.#counts.setReported(key, used, left)
    } catch (error) {
      // Each daemon still enforces the limit for itself.
      this.#logger.warn({ err: error }, 'request counts could not be exchanged with other daemons')
    }
  }
}

interface Total {
  key: string
  used: number
  /** Milliseconds until the window ends. */
  left: number
}

/** A window starts with the first request on any daemon. */
async function addCounts(transaction: Transaction, counts: readonly { key: string; count: number }[], windowMs: number): Promise<Total[]> {
  await transaction.run(`DELETE FROM rate_limits WHERE ends <= ${NOW}`)
  return transaction.all<Total>(
    `INSERT INTO rate_limits (key, used, ends) SELECT value ->> 'key', value ->> 'count', ${NOW} + ? FROM json_each(?) WHERE true
      ON CONFLICT DO UPDATE SET used = used + excluded.used RETURNING key, used, ends - ${NOW} AS left`,
    [windowMs, JSON.stringify(counts)],
  )
}
