/** What went wrong on the network, as a CadreError that names the host and never the query. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'

export function toOutboundError(error: unknown, url: URL): CadreError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof CadreError) return cause
  const { code = '', message } = (error instanceof AggregateError ? (error.errors[0] ?? error) : error) as NodeJS.ErrnoException
  const failed = (what: string, hint?: string) => new CadreError('PROVIDER_ERROR', what, { hint, cause: error })
  const { host } = url
  if (code === 'UND_ERR_INVALID_ARG') return createValidationError('headers', message)
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return createTimeoutError(url, error)
  if (code === 'ENOTFOUND' || code === 'EAI_NONAME')
    return failed(`There is no host named ${url.hostname}.`, 'Check the address for a typing error.')
  if (code === 'EAI_AGAIN') return failed(`The name ${url.hostname} could not be looked up.`, 'Check that this machine is online.')
  if (code === 'ECONNREFUSED') return failed(`${host} refuses connections.`, 'Check the port, and that the server is running.')
  if (code === 'ENETUNREACH' || code === 'EHOSTUNREACH')
    return failed(`There is no way to ${host} from here.`, 'Check that this machine is online.')
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return failed(`${host} ended the connection before its answer was complete.`)
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/.test(code))
    return failed(`No secure connection to ${host}: ${message} (${code}).`)
  if (/^(Z_|ERR_BROTLI|ERR__?ERROR_|ERR_PADDING)/.test(code)) return failed(`The compressed answer of ${host} is damaged.`)
  return failed(`The request to ${host} failed: ${message}${code === '' ? '' : ` (${code})`}.`)
}

export function createTimeoutError(url: URL, cause?: unknown, timeoutMs?: number): CadreError {
  const within = timeoutMs === undefined ? '' : ` within ${timeoutMs} ms`
  return new CadreError('PROVIDER_TIMEOUT', `${url.host} did not answer completely${within}.`, { cause })
}
