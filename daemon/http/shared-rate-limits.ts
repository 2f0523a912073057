/** Exchanges the number of requests per token with the other daemons of a shared database. */
import type { Database, Transaction } from '../store/database.ts'
import type { LeaseLog } from '../store/shared/leases.ts'
import type { RateLimiter, UnreportedUse } from './rate-limiter.ts'

/** A write per request would cost more than most requests. A limit is exceeded by at most what others accept in this time. */
const EXCHANGE_INTERVAL_MS = 1_000
const WINDOW_MS = 60_000
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

export class SharedRateLimits {
  readonly #database: Database
  readonly #limiter: RateLimiter
  readonly #logger: LeaseLog
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()

  constructor(database: Database, limiter: RateLimiter, logger: LeaseLog) {
    this.#database = database
    this.#limiter = limiter
    this.#logger = logger
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.exchange())
    }, EXCHANGE_INTERVAL_MS)
    this.#timer.unref()
  }

  async exchange(): Promise<void> {
    const uses = this.#limiter.takeUnreported()
    if (uses.length === 0) return
    try {
      const totals = await this.#database.write((transaction) => addUses(transaction, uses))
      for (const { key, used, left } of totals) this.#limiter.setReported(key, used, left)
    } catch (error) {
      // Each daemon still enforces the limit for itself.
      this.#logger.warn({ err: error }, 'request counts could not be exchanged with other daemons')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}

interface SharedUse {
  key: string
  used: number
  /** Milliseconds until the window ends. */
  left: number
}

/** A window starts with the first request on any daemon. */
async function addUses(transaction: Transaction, uses: readonly UnreportedUse[]): Promise<SharedUse[]> {
  await transaction.run(`DELETE FROM rate_limits WHERE ends <= ${NOW}`)
  return transaction.all<SharedUse>(
    `INSERT INTO rate_limits (key, used, ends) SELECT value ->> 'key', value ->> 'count', ${NOW} + ${WINDOW_MS} FROM json_each(?) WHERE true
      ON CONFLICT DO UPDATE SET used = used + excluded.used RETURNING key, used, ends - ${NOW} AS left`,
    [JSON.stringify(uses)],
  )
}
