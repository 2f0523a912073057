/** A clock that stands still until a test moves it. */
import type { Clock } from '../../../daemon/async/clock.ts'

export class ManualClock implements Clock {
  #now = 0
  #timers: { at: number; work: () => void }[] = []

  now(): number {
    return this.#now
  }

  schedule(milliseconds: number, work: () => void): () => void {
    const timer = { at: this.#now + milliseconds, work }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get scheduled(): number {
    return this.#timers.length
  }

  /** Moves the time and calls the work that is due. */
  advance(milliseconds: number): void {
    this.#now += milliseconds
    const due = this.#timers.filter(({ at }) => at <= this.#now)
    this.#timers = this.#timers.filter(({ at }) => at > this.#now)
    for (const { work } of due) work()
  }
}
