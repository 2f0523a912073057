/** Errors in the format of OpenAI's API. Commands load this file, so it has no schemas. */
import { type CadreError, ERRORS, type ErrorCode } from '../errors.ts'

interface OpenaiErrorKind {
  type: 'invalid_request_error' | 'insufficient_quota' | 'requests' | 'server_error'
  code: string | null
  /** Default: the status of the code. */
  status?: number
  /** OpenAI's clients repeat requests that fail with 409, 429 or 5xx. Cadre has repeated those to providers already. */
  shouldRetry?: false
}

/** OpenAI reports an exhausted budget as 429. */
const KINDS: Readonly<Record<ErrorCode, OpenaiErrorKind>> = {
  VALIDATION_ERROR: { type: 'invalid_request_error', code: null },
  INVALID_JSON: { type: 'invalid_request_error', code: null },
  ADDRESS_BLOCKED: { type: 'invalid_request_error', code: 'address_blocked' },
  UNAUTHENTICATED: { type: 'invalid_request_error', code: 'invalid_api_key' },
  BUDGET_EXCEEDED: { type: 'insufficient_quota', code: 'insufficient_quota', status: 429, shouldRetry: false },
  FORBIDDEN: { type: 'invalid_request_error', code: 'insufficient_permissions' },
  NOT_FOUND: { type: 'invalid_request_error', code: 'not_found' },
  METHOD_NOT_ALLOWED: { type: 'invalid_request_error', code: 'method_not_allowed' },
  CONFLICT: { type: 'invalid_request_error', code: 'conflict', shouldRetry: false },
  PRECONDITION_FAILED: { type: 'invalid_request_error', code: 'precondition_failed' },
  PAYLOAD_TOO_LARGE: { type: 'invalid_request_error', code: 'request_too_large' },
  UNSUPPORTED_MEDIA_TYPE: { type: 'invalid_request_error', code: 'unsupported_media_type' },
  RATE_LIMITED: { type: 'requests', code: 'rate_limit_exceeded' },
  INTERNAL: { type: 'server_error', code: 'internal_error', shouldRetry: false },
  PROVIDER_ERROR: { type: 'server_error', code: 'provider_error', shouldRetry: false },
  UNAVAILABLE: { type: 'server_error', code: 'unavailable' },
  PROVIDER_TIMEOUT: { type: 'server_error', code: 'provider_timeout', shouldRetry: false },
  STORAGE_FULL: { type: 'server_error', code: 'storage_full', shouldRetry: false },
}

export const getOpenaiStatus = (code: ErrorCode): number => KINDS[code].status ?? ERRORS[code]

export const shouldRetryOpenaiRequest = (code: ErrorCode): boolean => KINDS[code].shouldRetry !== false

export function createOpenaiError({ code, message, hint, details }: CadreError) {
  const [detail] = details ?? []
  const field = detail?.field === 'message' ? 'messages' : detail?.field
  const param = code === 'VALIDATION_ERROR' || code === 'NOT_FOUND' ? (field ?? null) : null
  return {
    error: {
      message: hint === undefined ? message : `${message} ${hint}`,
      type: KINDS[code].type,
      param,
      code: resolveSpecificCode(code, detail) ?? KINDS[code].code,
    },
  }
}

/** Reads an error in OpenAI's format; undefined if it is none. Several codes of Cadre have no code at OpenAI. */
export function parseOpenaiError(body: unknown): { code: ErrorCode; message: string } | undefined {
  const { error } = (body ?? {}) as { error?: { message?: unknown; type?: unknown; code?: unknown } | null }
  if (typeof error !== 'object' || error === null || typeof error.message !== 'string') return undefined
  const [code] = Object.entries(KINDS).find(([, kind]) => kind.code !== null && kind.code === error.code) ?? []
  if (code !== undefined) return { code: code as ErrorCode, message: error.message }
  const isMissing = typeof error.code === 'string' && error.code.endsWith('_not_found')
  const other = error.type === 'invalid_request_error' ? 'VALIDATION_ERROR' : 'INTERNAL'
  return { code: isMissing ? 'NOT_FOUND' : other, message: error.message }
}

/** Codes that clients of OpenAI's API check. */
function resolveSpecificCode(code: ErrorCode, detail: { field: string; problem: string } | undefined): string | undefined {
  if (code === 'NOT_FOUND' && detail?.field === 'model') return 'model_not_found'
  if (code === 'NOT_FOUND' && detail?.field === 'previous_response_id') return 'previous_response_not_found'
  if (code !== 'VALIDATION_ERROR') return undefined
  if (detail?.problem === 'is not a known field') return 'unknown_parameter'
  // The only problem with a message as a whole is its length.
  return detail?.field === 'message' ? 'context_length_exceeded' : undefined
}
