/** The time, and being woken at one: what tests replace to live through days in a moment. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once, after so many milliseconds; returns how to call that off. */
  schedule(milliseconds: number, work: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(milliseconds, work) {
    // The process ends when it is told to, not when the last thing it waits for has come.
    const timer = setTimeout(work, milliseconds).unref()
    return () => clearTimeout(timer)
  },
}
