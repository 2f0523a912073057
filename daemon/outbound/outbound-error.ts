/** Translates network errors into CadreErrors that name the host but never the query. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'

export function toOutboundError(error: unknown, url: URL): CadreError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof CadreError) return cause
  const { code = '', message } = (error instanceof AggregateError ? (error.errors[0] ?? error) : error) as NodeJS.ErrnoException
  const failed = (what: string, hint?: string) => new CadreError('PROVIDER_ERROR', what, { hint, cause: error })
  const { host } = url
  if (code === 'UND_ERR_INVALID_ARG') return createValidationError('headers', message)
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return createTimeoutError(url, error)
  if (code === 'ENOTFOUND' || code === 'EAI_NONAME') return failed(`Host not found: ${url.hostname}.`, 'Check the URL for typos.')
  if (code === 'EAI_AGAIN') return failed(`DNS lookup of ${url.hostname} failed.`, 'Check that this machine is online.')
  if (code === 'ECONNREFUSED') return failed(`${host} refused the connection.`, 'Check the port, and that the server is running.')
  if (code === 'ENETUNREACH' || code === 'EHOSTUNREACH') return failed(`${host} is unreachable.`, 'Check that this machine is online.')
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return failed(`${host} closed the connection before the response was complete.`)
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/.test(code))
    return failed(`TLS connection to ${host} failed: ${message} (${code}).`)
  if (/^(Z_|ERR_BROTLI|ERR__?ERROR_|ERR_PADDING)/.test(code)) return failed(`${host} sent a corrupt compressed response.`)
  return failed(`The request to ${host} failed: ${message}${code === '' ? '' : ` (${code})`}.`)
}

export function createTimeoutError(url: URL, cause?: unknown, timeoutMs?: number): CadreError {
  const within = timeoutMs === undefined ? '' : ` within ${timeoutMs} ms`
  return new CadreError('PROVIDER_TIMEOUT', `${url.host} did not respond completely${within}.`, { cause })
}
