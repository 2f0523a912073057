/** Exchanges counts, such as the requests per token, with the other daemons. */
import type { Database, Transaction } from '../store/database.ts'
import type { ClusterLog, SharedCounts } from './cluster.ts'

/** A write per request would cost more than most requests. A limit is exceeded by at most what others accept in this time. */
const EXCHANGE_INTERVAL_MS = 1_000
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** Returns a function that ends the exchange. */
export function exchangeCounts(database: Database, counts: SharedCounts, logger: ClusterLog): () => Promise<void> {
  const exchange = async () => {
    const unreported = counts.takeUnreported()
    if (unreported.length === 0) return
    try {
      const totals = await database.write((transaction) => addCounts(transaction, unreported, counts.windowMs))
      for (const { key, used, left } of totals) counts.setReported(key, used, left)
    } catch (error) {
      // Each daemon still enforces the limit for itself.
      logger.warn({ err: error }, 'request counts could not be exchanged with other daemons')
    }
  }
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(exchange)
  }, EXCHANGE_INTERVAL_MS).unref()
  return async () => {
    clearInterval(timer)
    await running
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
