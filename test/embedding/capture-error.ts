/** Captures and serializes errors. */
import * as assert from 'uvu/assert'
import { CadreError } from '../../src/contract/errors.ts'

export async function captureError(promise: Promise<unknown>): Promise<CadreError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(outcome instanceof Error, 'the call did not fail')
  return outcome as CadreError
}

/** Returns everything that a response or a log could contain of an error. */
export function serializeError(error: Error): string {
  const cause = error.cause instanceof Error ? serializeError(error.cause) : String(error.cause)
  return [
    error.message,
    error.stack,
    error instanceof CadreError ? `${error.hint} ${JSON.stringify(error.details)}` : '',
    JSON.stringify(error),
    cause,
  ].join('\n')
}
