/** Removes old events and deliveries once a day. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import { prune } from './outbox-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Longer than the retry schedule, so that no pending delivery is removed. */
const RETENTION_MS = 30 * DAY_MS

export class EventRetention {
  readonly #database: Database
  readonly #clock: Clock
  readonly #logger: Logger
  #cancelTimer = () => {}
  #isClosed = false
  #pruning: Promise<void> = Promise.resolve()

  constructor(database: Database, clock: Clock, logger: Logger) {
    this.#database = database
    this.#clock = clock
    this.#logger = logger
  }

  start(): void {
    if (this.#isClosed) return
    this.#pruning = prune(this.#database, new Date(this.#clock.now() - RETENTION_MS).toISOString()).catch((error: unknown) =>
      this.#logger.error({ err: error }, 'old events could not be removed'),
    )
    this.#cancelTimer = this.#clock.schedule(DAY_MS, () => this.start())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer()
    await this.#pruning
  }
}
