/** The clock behind timers. Tests replace it to simulate days in milliseconds. */
import { startDeadline } from '../../src/deadline.ts'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `work` once after a delay. Returns a function that cancels it. */
  schedule(milliseconds: number, work: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(milliseconds, work) {
    // Unreferenced: a pending timer must not keep the process alive.
    const deadline = startDeadline(milliseconds, work).unref()
    return () => deadline.cancel()
  },
}
