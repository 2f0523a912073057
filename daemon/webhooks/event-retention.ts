/** Events and deliveries are kept for a while and then removed. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import { prune } from './outbox-store.ts'

const DAY = 24 * 60 * 60 * 1000
/** Far longer than the last attempt takes to come, so nothing goes that could still be delivered. */
const KEPT_MS = 30 * DAY

export class Retention {
  readonly #database: Database
  readonly #clock: Clock
  readonly #logger: Logger
  #stop = () => {}
  #closed = false
  #pruned: Promise<void> = Promise.resolve()

  constructor(database: Database, clock: Clock, logger: Logger) {
    this.#database = database
    this.#clock = clock
    this.#logger = logger
  }

  /** Now, and once a day from now on. */
  start(): void {
    if (this.#closed) return
    this.#pruned = prune(this.#database, new Date(this.#clock.now() - KEPT_MS).toISOString()).catch((error: unknown) =>
      this.#logger.error({ err: error }, 'old events could not be removed'),
    )
    this.#stop = this.#clock.schedule(DAY, () => this.start())
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stop()
    await this.#pruned
  }
}
