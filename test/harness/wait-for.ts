/** Polling with a deadline that a slow machine does not reach. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startDeadline } from '../../src/deadline.ts'

export interface WaitOptions {
  timeoutMs?: number
  intervalMs?: number
  /** What the caller waits for. Default: the source of the condition. */
  description?: string
}

/** Polls until the condition returns a value other than undefined and false. Throws an error with the description after the timeout. */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 600_000, intervalMs = 25, description = String(condition) }: WaitOptions = {},
): Promise<T> {
  const deadline = startDeadline(timeoutMs)
  for (; ; await sleep(intervalMs)) {
    const value = await condition()
    if (value !== undefined && value !== false) {
      deadline.cancel()
      return value
    }
    if (deadline.hasPassed) throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${description}`)
  }
}
