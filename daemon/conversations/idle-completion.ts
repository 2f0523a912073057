/** Conversations in which nothing was said for long complete by themselves. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { ConversationsService } from './service.ts'

const LOOK_MS = 60_000

export interface IdleParts {
  conversations: ConversationsService
  /** After how many minutes; 0 is never. */
  minutes(): Promise<number>
  clock: Clock
  logger: Logger
}

export class IdleWatch {
  readonly #parts: IdleParts
  #stop = () => {}
  #closed = false
  #looking: Promise<void> = Promise.resolve()

  constructor(parts: IdleParts) {
    this.#parts = parts
  }

  /** Now, for those that were forgotten while no daemon ran, and every minute from now on. */
  start(): void {
    if (this.#closed) return
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => this.#parts.logger.error({ err: error }, 'idle conversations could not be completed'))
    this.#stop = this.#parts.clock.wakeAfter(LOOK_MS, () => this.start())
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stop()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { conversations, minutes, clock } = this.#parts
    const idle = await minutes()
    if (idle > 0) await conversations.completeIdle(new Date(clock.now() - idle * 60_000), () => this.#closed)
  }
}
