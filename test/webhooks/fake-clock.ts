/** A clock that tests advance. */
import type { Clock } from '../../daemon/async/clock.ts'
import { waitFor } from '../harness/wait-for.ts'

interface Timer {
  at: number
  work(): void
}

export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>()
  #time: number

  constructor(time = Date.parse('2026-01-31T09:30:00.000Z')) {
    this.#time = time
  }

  now(): number {
    return this.#time
  }

  schedule(milliseconds: number, work: () => void): () => void {
    const timer = { at: this.#time + milliseconds, work }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timerCount(): number {
    return this.#timers.size
  }

  /** Waits until at least this many timers are pending. */
  async waitForTimers(count: number): Promise<void> {
    await waitFor(() => this.#timers.size >= count, { description: `${count} timers`, intervalMs: 1 })
  }

  /** Advances to the next timer and returns its time. */
  advance(): number {
    const [first] = [...this.#timers].sort((a, b) => a.at - b.at)
    if (!first) throw new Error('no timer is scheduled')
    this.#timers.delete(first)
    this.#time = Math.max(this.#time, first.at)
    first.work()
    return this.#time
  }

  /** Fires all pending timers at the current time. */
  fireAll(): void {
    const timers = [...this.#timers]
    this.#timers.clear()
    for (const { work } of timers) work()
  }

  /** Advances the time without firing timers, as while the daemon is stopped. */
  skip(milliseconds: number): void {
    this.#time += milliseconds
  }
}
