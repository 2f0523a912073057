/** Error codes with their HTTP status, and the error class. docs/errors.md explains each code. */

export const ERRORS = {
  VALIDATION_ERROR: 400,
  INVALID_JSON: 400,
  ADDRESS_BLOCKED: 400,
  UNAUTHENTICATED: 401,
  BUDGET_EXCEEDED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  PROVIDER_ERROR: 502,
  UNAVAILABLE: 503,
  PROVIDER_TIMEOUT: 504,
  STORAGE_FULL: 507,
} as const

export type ErrorCode = keyof typeof ERRORS

export interface ErrorDetail {
  field: string
  problem: string
}

export interface ErrorBody {
  success: false
  error: string
  code: ErrorCode
  details?: ErrorDetail[]
  hint?: string
  request_id?: string
}

interface ErrorOptions {
  hint?: string | undefined
  details?: ErrorDetail[] | undefined
  cause?: unknown
  /** For errors that go away by themselves. */
  retryAfterSeconds?: number | undefined
}

/** An error with a code, a message and, if known, a hint how to fix it. */
export class CadreError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: ErrorDetail[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CadreError'
    this.code = code
    this.hint = options.hint
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return ERRORS[this.code]
  }

  /** Returns the same error with another hint. */
  withHint(hint: string): CadreError {
    return new CadreError(this.code, this.message, { hint, details: this.details, cause: this })
  }
}

/** For `promise.catch()`: handles errors with this code and throws all others. */
export const handleError =
  <T>(code: ErrorCode, handle: (error: CadreError) => T) =>
  (error: unknown): T => {
    if (error instanceof CadreError && error.code === code) return handle(error)
    throw error
  }

export function createValidationError(field: string, problem: string, hint?: string): CadreError {
  return new CadreError('VALIDATION_ERROR', `${field}: ${problem}.`, { details: [{ field, problem }], hint })
}

export function createNotFoundError(noun: string, id: string): CadreError {
  return new CadreError('NOT_FOUND', `There is no ${noun} "${id}".`)
}
