/** The clock of the system, which a test can set forward. */
import { type Clock, systemClock } from '../../../daemon/async/clock.ts'

export class ShiftedClock implements Clock {
  #offset = 0
  readonly schedule = systemClock.schedule

  now(): number {
    return systemClock.now() + this.#offset
  }

  advance(milliseconds: number): void {
    this.#offset += milliseconds
  }
}
