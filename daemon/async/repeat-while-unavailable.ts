/** Repeats work while a server that it needs cannot be reached. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../src/contract/errors.ts'

const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** Errors that go away by themselves, when a store can be reached again. */
export const isOutage = (error: unknown): error is CadreError => error instanceof CadreError && error.retryAfterSeconds !== undefined

/** Only after errors that go away by themselves. Ends with the error if the signal is aborted. */
export async function repeatWhileUnavailable(
  work: () => Promise<void>,
  signal: AbortSignal,
  onError: (error: CadreError) => void,
): Promise<void> {
  for (let delay = MIN_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!isOutage(error) || signal.aborted) throw error
      onError(error)
      await pause(delay, undefined, { signal })
    }
  }
}
