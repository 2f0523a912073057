/** Conversations in which nothing was said for long complete by themselves. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { ConversationsService } from './service.ts'

const CHECK_INTERVAL_MS = 60_000

export interface IdleWatcherDependencies {
  conversations: ConversationsService
  /** After how many minutes; 0 is never. */
  getIdleMinutes(): Promise<number>
  clock: Clock
  logger: Logger
}

export class IdleWatcher {
  readonly #dependencies: IdleWatcherDependencies
  #cancelTimer = () => {}
  #closed = false
  #check: Promise<void> = Promise.resolve()

  constructor(parts: IdleWatcherDependencies) {
    this.#dependencies = parts
  }

  /** Now, for those that were forgotten while no daemon ran, and every minute from now on. */
  start(): void {
    if (this.#closed) return
    this.#check = this.#check
      .then(() => this.#completeIdle())
      .catch((error: unknown) => this.#dependencies.logger.error({ err: error }, 'idle conversations could not be completed'))
    this.#cancelTimer = this.#dependencies.clock.wakeAfter(CHECK_INTERVAL_MS, () => this.start())
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    await this.#check
  }

  async #completeIdle(): Promise<void> {
    const { conversations, getIdleMinutes: minutes, clock } = this.#dependencies
    const idle = await minutes()
    if (idle > 0) await conversations.completeIdle(new Date(clock.now() - idle * 60_000), () => this.#closed)
  }
}
