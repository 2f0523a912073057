/** Errors of a libSQL server, explained: a lost connection, a rejected token, a transaction that the server ended. */
import { ResponseError } from '@libsql/hrana-client'
import { CadreError } from '../../../src/contract/errors.ts'
import { translateError } from '../database-errors.ts'
import { describeCause } from '../describe-cause.ts'

/** The request may or may not have reached the server. The server rolls back the transactions of a lost connection. */
export class ConnectionLostError extends CadreError {
  constructor(location: string, cause: unknown) {
    super('UNAVAILABLE', `The database at ${location} cannot be reached: ${describeCause(cause)}.`, {
      hint: 'Nothing was lost. Try again in a moment. If it persists, check the database server.',
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** Another daemon waited for too long, or the server restarted. Nothing of the transaction was stored. */
export class TransactionLostError extends CadreError {
  constructor(location: string, cause?: unknown) {
    super('UNAVAILABLE', `The database at ${location} ended a transaction early. Nothing was changed.`, {
      hint: 'Try again in a moment.',
      cause,
      retryAfterSeconds: 1,
    })
  }
}

export const createUnknownOutcomeError = (location: string, cause: unknown) =>
  new CadreError('UNAVAILABLE', `The connection to the database at ${location} was lost while a change was being stored.`, {
    hint: 'Check whether the change was made, or repeat the request with the same Idempotency-Key.',
    cause,
    retryAfterSeconds: 1,
  })

export class TimeoutError extends Error {}

interface HranaError extends Error {
  code?: string
  status?: number
}

const isAuthError = ({ code = '', status }: HranaError) => code.startsWith('AUTH_') || status === 401 || status === 403

/** Errors of a statement are returned as they are; all others are explained. */
export function translateServerError(error: unknown, location: string): unknown {
  if (error instanceof CadreError) return error
  const { code = '', message } = error as HranaError
  if (isAuthError(error as HranaError))
    return new CadreError('UNAVAILABLE', `The database at ${location} rejects the token: ${message}.`, {
      hint: 'Set CADRE_DATABASE_TOKEN, or store the token: cadre config set database-token -',
      cause: error,
    })
  if (!(error instanceof ResponseError)) return new ConnectionLostError(location, error)
  // The server ends a transaction when another one has waited for the lock for several seconds.
  if (/^(SQLITE_BUSY|SQLITE_LOCKED|TRANSACTION|STREAM)/.test(code)) return new TransactionLostError(location, error)
  if (message.includes('string or blob too big'))
    return new CadreError('PAYLOAD_TOO_LARGE', `A value is larger than the database at ${location} accepts. Nothing was changed.`, {
      hint: 'sqld accepts 4 MB. Shorten the text, or split the record.',
      cause: error,
    })
  return translateError(error, location)
}
