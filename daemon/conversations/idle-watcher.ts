/** Completes conversations that were idle for longer than the configured time. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { ConversationsService } from './service.ts'

const CHECK_INTERVAL_MS = 60_000

export interface IdleWatcherDependencies {
  conversations: ConversationsService
  /** 0 disables it. */
  getIdleMinutes(): Promise<number>
  clock: Clock
  logger: Logger
}

export class IdleWatcher {
  readonly #dependencies: IdleWatcherDependencies
  #cancelTimer = () => {}
  #closed = false
  #check: Promise<void> = Promise.resolve()

  constructor(dependencies: IdleWatcherDependencies) {
    this.#dependencies = dependencies
  }

  /** Checks now, for conversations that became idle while no daemon ran, and then every minute. */
  start(): void {
    if (this.#closed) return
    this.#check = this.#check
      .then(() => this.#completeIdle())
      .catch((error: unknown) => this.#dependencies.logger.error({ err: error }, 'idle conversations could not be completed'))
    this.#cancelTimer = this.#dependencies.clock.schedule(CHECK_INTERVAL_MS, () => this.start())
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    await this.#check
  }

  async #completeIdle(): Promise<void> {
    const { conversations, getIdleMinutes, clock } = this.#dependencies
    const minutes = await getIdleMinutes()
    if (minutes > 0) await conversations.completeIdle(new Date(clock.now() - minutes * 60_000), () => this.#closed)
  }
}
