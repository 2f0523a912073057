/** Leaves pauses between the syncs of a folder, so that a large folder that changes all the time does not keep a core busy. */
import { type Clock, systemClock } from '../../async/clock.ts'

/** After shorter syncs there is no pause. */
const SHORT_SYNC_MS = 1_000
const PAUSE_FACTOR = 3
const MAX_PAUSE_MS = 30_000

export class SyncPacer {
  readonly #sync: () => Promise<void>
  readonly #clock: Clock
  #state: 'idle' | 'busy' | 'requested' | 'closed' = 'idle'
  #cancelTimer = () => {}

  /** `sync` resolves when the sync has ended, and never rejects. */
  constructor(sync: () => Promise<void>, clock: Clock = systemClock) {
    this.#sync = sync
    this.#clock = clock
  }

  /** Starts a sync, or another one after the current one and its pause. */
  request(): void {
    if (this.#state === 'busy') this.#state = 'requested'
    if (this.#state === 'idle') void this.#run()
  }

  close(): void {
    this.#state = 'closed'
    this.#cancelTimer()
  }

  async #run(): Promise<void> {
    this.#state = 'busy'
    const startedAt = this.#clock.now()
    await this.#sync()
    const duration = this.#clock.now() - startedAt
    if (this.#isClosed()) return
    if (duration < SHORT_SYNC_MS) return this.#continue()
    this.#cancelTimer = this.#clock.schedule(Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * duration), () => void this.#continue())
  }

  async #continue(): Promise<void> {
    const isRequested = this.#state === 'requested'
    this.#state = 'idle'
    if (isRequested) await this.#run()
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }
}
