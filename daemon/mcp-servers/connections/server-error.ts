/** Translates errors of the MCP SDK into CadreErrors that name the server. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { StoredMcpServer } from '../store.ts'
import { cleanText } from './clean-text.ts'

const MAX_MESSAGE_LENGTH = 500

export const formatServerText = (text: string): string => cleanText(text).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_MESSAGE_LENGTH)

export function createSignInError({ name }: Pick<StoredMcpServer, 'name'>, cause?: unknown): CadreError {
  return new CadreError('UNAVAILABLE', `The MCP server "${name}" requires a sign-in.`, {
    hint: `Sign in: cadre tools login ${name}`,
    cause,
  })
}

/** `problem` says why the connection ended, if it did. */
export function toServerError({ name, timeout_ms }: StoredMcpServer, error: unknown, problem: string | undefined): CadreError {
  const title = `The MCP server "${name}"`
  const hint = 'For details: cadre daemon logs'
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof CadreError) return cause.message.includes(`"${name}"`) ? cause : prefix(title, cause)
  if (problem !== undefined) return new CadreError('UNAVAILABLE', `${title} ${formatServerText(problem)}.`, { cause: error, hint })
  const { name: kind = '', code, message = '', status } = error as { name?: string; code?: unknown; message?: string; status?: number }
  if (code === 'REQUEST_TIMEOUT') return new CadreError('PROVIDER_TIMEOUT', `${title} did not respond within ${timeout_ms} ms.`)
  if (kind === 'UnauthorizedError') return createSignInError({ name }, error)
  if (status === 401 || status === 403)
    return new CadreError('PROVIDER_ERROR', `${title} refused the credentials (HTTP ${status}).`, {
      hint: `Set them: cadre tools servers update ${name} --auth …, or sign in: cadre tools login ${name}`,
      cause: error,
    })
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
    return new CadreError('UNAVAILABLE', `${title} closed the connection.`, { cause: error, hint })
  if (code === 'LIST_PAGINATION_EXCEEDED')
    return new CadreError('PROVIDER_ERROR', `${title} lists its tools on too many pages.`, { cause: error })
  if (error instanceof RangeError) return new CadreError('PROVIDER_ERROR', `${title} sent a message that nests too deeply.`)
  if (code === 'INVALID_RESULT') return new CadreError('PROVIDER_ERROR', `${title} sent an invalid response.`, { cause: error, hint })
  if (typeof code === 'number')
    return new CadreError('PROVIDER_ERROR', `${title} reported an error: ${formatServerText(message)}`, { cause: error })
  return new CadreError('PROVIDER_ERROR', `${title} could not be used: ${formatServerText(message)}`, { cause: error, hint })
}

const prefix = (title: string, { code, message, hint }: CadreError) => new CadreError(code, `${title}: ${message}`, { hint })
