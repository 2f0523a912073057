/** Converts errors to responses. Unexpected errors are logged and not exposed. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CadreError, type ErrorBody, type ErrorCode } from '../../src/contract/errors.ts'
import { createOpenaiError, getOpenaiStatus, shouldRetryOpenaiRequest } from '../../src/contract/openai/errors.ts'

const FASTIFY_ERRORS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON: send Content-Type: application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['VALIDATION_ERROR', 'The length of the body differs from Content-Length.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['INVALID_JSON', 'The body is not valid JSON.'],
  FST_ERR_BAD_URL: ['VALIDATION_ERROR', 'The path is not a valid URL.'],
  FST_ERR_MAX_PARAM_LENGTH: ['VALIDATION_ERROR', 'A path segment is too long.'],
  ENOSPC: ['STORAGE_FULL', 'The disk is full. No changes were made.'],
}

export function toCadreError(error: unknown): CadreError {
  if (error instanceof CadreError) return error
  const { code = '', statusCode = 500, message } = error as Partial<FastifyError>
  const known = FASTIFY_ERRORS[code]
  if (known) return new CadreError(known[0], known[1], { cause: error })
  if (error instanceof SyntaxError && statusCode === 400)
    return new CadreError('INVALID_JSON', `The body is not valid JSON: ${message}`, { cause: error })
  if (statusCode >= 400 && statusCode < 500) return new CadreError('VALIDATION_ERROR', String(message), { cause: error })
  return new CadreError('INTERNAL', 'Internal error. This is a bug in Cadre.', {
    hint: 'Find the request ID in the log: cadre daemon logs',
    cause: error,
  })
}

export function createErrorBody(error: CadreError, requestId: string): ErrorBody {
  return {
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
    ...(error.hint ? { hint: error.hint } : {}),
    request_id: requestId,
  }
}

const createTooLargeError = (limit: number, cause: unknown) =>
  new CadreError('PAYLOAD_TOO_LARGE', `The request body is too large. The limit is ${Math.floor(limit / 1024 ** 2)} MB.`, {
    hint: 'Split the request.',
    cause,
  })

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isTooLarge = (error as Partial<FastifyError>).code === 'FST_ERR_CTP_BODY_TOO_LARGE'
  const known = isTooLarge ? createTooLargeError(request.routeOptions.bodyLimit, error) : toCadreError(error)
  if (known.status >= 500)
    request.log.error(
      { request_id: request.id, err: known.cause ?? known, code: known.code, route: request.routeOptions.url },
      known.message,
    )
  // The unread rest of the body would be parsed as the next request on this connection.
  if (known.code === 'PAYLOAD_TOO_LARGE') reply.header('connection', 'close')
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', known.retryAfterSeconds)
  reply.type('application/json; charset=utf-8')
  if (!isOpenaiPath(request.url)) return reply.status(known.status).send(createErrorBody(known, request.id))
  if (!shouldRetryOpenaiRequest(known.code)) reply.header('x-should-retry', 'false')
  return reply.status(getOpenaiStatus(known.code)).send(createOpenaiError(known))
}

/** Also for unknown paths, whose clients expect the same format. */
const isOpenaiPath = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url)
