/** Repeats work at an interval. A run starts only after the previous one has ended. */
import type { Clock } from './clock.ts'

export class RecurringTask {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #work: (signal: AbortSignal) => Promise<void>
  readonly #closing = new AbortController()
  #cancelTimer = () => {}
  #lastRun = Promise.resolve()

  /** `work` handles its own errors. Its signal is aborted when the task is closed. */
  constructor(clock: Clock, intervalMs: number, work: (signal: AbortSignal) => Promise<void>) {
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.#work = work
  }

  /** Runs the work now and then at each interval. */
  start(): void {
    const { signal } = this.#closing
    if (signal.aborted) return
    this.#lastRun = this.#lastRun.then(() => this.#work(signal))
    this.#cancelTimer = this.#clock.schedule(this.#intervalMs, () => this.start())
  }

  /** Waits for the current run. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#cancelTimer()
    await this.#lastRun
  }
}
