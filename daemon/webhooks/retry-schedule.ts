/** The retry schedule of the Standard Webhooks specification. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays from each failure to the next attempt. The first attempt is immediate. */
export const RETRY_DELAYS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** Maximum jitter as a share of the delay. It is only added, so that no retry comes early. */
const MAX_JITTER = 0.1

/** An attempt that is due later than this was scheduled before the clock was set back. */
export const MAX_DELAY_MS = Math.max(...RETRY_DELAYS) * (1 + MAX_JITTER)

/** Returns the time of the next attempt, or undefined after the last one. `random` is from 0 to below 1. */
export function getNextAttempt(attempts: number, now: number, random: number): number | undefined {
  const delay = RETRY_DELAYS[attempts - 1]
  return delay === undefined ? undefined : now + Math.round(delay * (1 + MAX_JITTER * random))
}
