/** Polling with a deadline. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  timeoutMs?: number
  intervalMs?: number
  /** What the caller waits for. Default: the source of the condition. */
  description?: string
}

/** Polls until the condition returns a value other than undefined and false. Throws an error with the description after the timeout. */
export async function waitFor<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 120_000, intervalMs = 25, description = String(condition) }: WaitOptions = {},
): Promise<T> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(intervalMs)) {
    const value = await condition()
    if (value !== undefined && value !== false) return value
    if (Date.now() > deadline) throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${description}`)
  }
}
