/** Errors of the client: an error response, or no response at all. */
import { CadreError, type ErrorBody, type ErrorCode } from '../contract/errors.ts'
import { parseOpenaiError } from '../contract/openai/errors.ts'

/** The service responded with an error. */
export class ServiceError extends CadreError {
  readonly httpStatus: number
  readonly requestId: string | undefined

  constructor(httpStatus: number, body: ErrorBody, requestId?: string) {
    super(body.code, body.error, { hint: body.hint, details: body.details })
    this.name = 'ServiceError'
    this.httpStatus = httpStatus
    this.requestId = body.request_id ?? requestId
  }

  override get status(): number {
    return this.httpStatus
  }
}

/** The service cannot be reached, or has another version. */
export class UnreachableError extends Error {
  readonly hint: string | undefined

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'UnreachableError'
    this.hint = options.hint
  }
}

const CODES_BY_STATUS: Record<number, ErrorCode> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
}

/** Creates an error from a response body, or from the status alone if the body comes from a proxy. */
export function parseServiceError(status: number, text: string, requestId?: string): ServiceError {
  const body = parseErrorBody(text)
  if (body) return new ServiceError(status, body, requestId)
  const code = CODES_BY_STATUS[status] ?? 'INTERNAL'
  return new ServiceError(
    status,
    {
      success: false,
      code,
      error: `The service responded with status ${status} and a body that is not JSON.`,
      hint: 'Check whether a proxy or another program responds at this URL.',
    },
    requestId,
  )
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody>
    if (typeof body?.error === 'string' && typeof body.code === 'string') return body as ErrorBody
    const failure = parseOpenaiError(body)
    return failure && { success: false, code: failure.code, error: failure.message }
  } catch {
    return undefined // not JSON
  }
}
