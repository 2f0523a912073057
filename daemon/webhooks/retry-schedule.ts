/** When a delivery that failed is tried again: the schedule of the Standard Webhooks specification. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** From each failure to the next attempt; the first attempt is made at once. */
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
/** At most this part of a delay is added to it, so that what failed together does not come back together. Nothing comes sooner. */
export const MAX_JITTER = 0.1

/** The time of the attempt after so many, or undefined when that was the last. `random` is from 0 to below 1. */
export function getNextAttempt(made: number, now: number, random: number): number | undefined {
  const delay = RETRY_DELAYS[made - 1]
  return delay === undefined ? undefined : now + Math.round(delay * (1 + MAX_JITTER * random))
}
