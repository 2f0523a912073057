/** The clock behind timers. Tests replace it to simulate days in milliseconds. */

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
    const timer = setTimeout(work, milliseconds).unref()
    return () => clearTimeout(timer)
  },
}
