/** Errors of model providers: the provider's message without the API key, and whether a retry can help. */
import { CadreError } from '../../../src/contract/errors.ts'
import { REDACTED, Redactor } from '../../secrets/redactor.ts'
import type { RemoteModel } from './remote-model.ts'

interface ProviderErrorOptions {
  hint?: string | undefined
  cause?: unknown
  isRetryable?: boolean
  /** The delay that the provider asks for. */
  retryAfterMs?: number | undefined
}

export class ProviderError extends CadreError {
  readonly isRetryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    code: 'PROVIDER_ERROR' | 'PROVIDER_TIMEOUT' | 'ADDRESS_BLOCKED',
    message: string,
    { isRetryable = false, retryAfterMs, ...options }: ProviderErrorOptions = {},
  ) {
    super(code, message, options)
    this.isRetryable = isRetryable
    this.retryAfterMs = retryAfterMs
  }
}

interface ErrorResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

const MAX_MESSAGE_LENGTH = 400
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504, 529])
const QUOTA_EXHAUSTED = /insufficient_quota|billing|credit balance/i
const RETRYABLE_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'EAI_AGAIN'])
const NETWORK_HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Check that the server is running.',
  ENOTFOUND: 'Check the endpoint for typos, and that this machine is online.',
}
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])

/** Hosted providers always need a key; a server at another endpoint may not. */
export const isKeyMissing = ({ provider, endpoint, api_key }: RemoteModel): boolean =>
  api_key === null && endpoint === null && provider !== 'ollama'

export function createMissingKeyError(model: RemoteModel): ProviderError {
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} has no API key.`, {
    hint: `Set one with ${formatKeyCommand(model)}, or add the model with a key of the daemon's environment: cadre models discover --add`,
  })
}

/** For a response with an error status. */
export function createStatusError(
  model: RemoteModel,
  host: string,
  { status, headers, text }: ErrorResponse,
  retryableStatuses = RETRYABLE_STATUSES,
): ProviderError {
  const message = sanitizeMessage(extractMessage(parseJson(text) ?? text), model.api_key)
  const retryAfterMs = parseRetryAfter(headers, text)
  return new ProviderError('PROVIDER_ERROR', withMessage(`${formatModel(model)} returned ${status}`, message), {
    hint: getStatusHint(model, status, host, retryAfterMs),
    isRetryable: retryableStatuses.has(status) && !(status === 429 && QUOTA_EXHAUSTED.test(text)),
    retryAfterMs,
  })
}

/** The command prompts for the key, so that it does not end up in the shell history. */
const formatKeyCommand = ({ id }: RemoteModel): string => `cadre models update ${id} --api-key -`

function getStatusHint(model: RemoteModel, status: number, host: string, retryAfterMs: number | undefined): string | undefined {
  if (status === 401 || status === 403) return `Check the API key. To replace it: ${formatKeyCommand(model)}`
  if (status === 404) return `Check the model's name and its endpoint at ${host}.`
  if (status === 429)
    return `The provider limits requests; try again ${retryAfterMs === undefined ? 'later' : `in ${formatDuration(retryAfterMs)}`}.`
  if (status >= 300 && status < 400)
    return 'Redirects are not followed, because they would forward the API key. Use the address it redirects to.'
  return status >= 500 ? 'The provider has an internal problem; try again later.' : undefined
}

/** For an error inside a stream that started with status 200. */
export function createStreamError(model: RemoteModel, error: unknown): ProviderError {
  const body = getErrorBody(error)
  const message = sanitizeMessage(extractMessage(body), model.api_key)
  return new ProviderError('PROVIDER_ERROR', withMessage(`${formatModel(model)} stopped with an error`, message), {
    isRetryable: /overloaded|rate_limit|unavailable|server_error|internal/i.test(getErrorType(body)),
    cause: toSafeCause(error, model.api_key),
  })
}

/** For a response that is incomplete or not a model's reply. `preview` is the start of its body. */
export function createIncompleteError(model: RemoteModel, preview: string, hasContent: boolean): ProviderError {
  if (hasContent) return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} ended its response early.`, { hint: 'Try again.' })
  const message = sanitizeMessage(preview, model.api_key)
  if (message === '') return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} sent an empty response.`, { isRetryable: true })
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} sent an invalid response: ${message}`, {
    hint: 'Check the endpoint of the model.',
  })
}

export function createTimeoutError(model: RemoteModel, host: string, problem: string, ms: number): ProviderError {
  return new ProviderError('PROVIDER_TIMEOUT', `${formatModel(model)} at ${host} ${problem} ${formatDuration(ms)}.`)
}

export function createTooLargeError(model: RemoteModel, what: 'a response' | 'an event', bytes: number): ProviderError {
  const megabytes = Math.round(bytes / 1_000_000)
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} sent ${what} of more than ${megabytes} MB.`)
}

/** For errors of the network or of a provider package. */
export function createNetworkError(model: RemoteModel, host: string, error: unknown): ProviderError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderError) return cause
    if (cause instanceof CadreError && cause.code === 'ADDRESS_BLOCKED')
      return new ProviderError('ADDRESS_BLOCKED', cause.message, {
        hint: 'To use a model in the private network, an admin must set its endpoint.',
      })
  }
  const { code = '', message = '' } = findNetworkError(error)
  const cause = toSafeCause(error, model.api_key)
  const subject = `${formatModel(model)} at ${host}`
  if (TIMEOUT_CODES.has(code)) return new ProviderError('PROVIDER_TIMEOUT', `${subject} did not respond in time.`, { cause })
  const details = sanitizeMessage(message || code, model.api_key)
  return new ProviderError('PROVIDER_ERROR', withMessage(`${subject} cannot be reached`, details), {
    hint: NETWORK_HINTS[code],
    cause,
    isRetryable: RETRYABLE_CODES.has(code),
  })
}

/** Returns the innermost error with a code, which is the socket's. */
function findNetworkError(error: unknown): NodeJS.ErrnoException {
  let found: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error))
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const inner: NodeJS.ErrnoException = cause instanceof AggregateError && cause.errors[0] instanceof Error ? cause.errors[0] : cause
    if (inner.code !== undefined) found = inner
  }
  return found
}

/** Reads the delay from the headers or, for Google, from the body. */
function parseRetryAfter(headers: ErrorResponse['headers'], text: string): number | undefined {
  const getHeader = (name: string) => [headers[name]].flat()[0]
  const milliseconds = Number(getHeader('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds)
  const after = getHeader('retry-after')
  if (after !== undefined && Number.isFinite(Number(after))) return Math.max(0, Number(after) * 1000)
  const date = Date.parse(after ?? '')
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now())
  const [, delay] = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(text) ?? []
  return delay === undefined ? undefined : Number(delay) * 1000
}

/** Finds the message in the error formats of the providers. */
function extractMessage(value: unknown): string {
  const body = Array.isArray(value) ? value[0] : value
  if (typeof body !== 'object' || body === null) return String(body ?? '')
  const { error, message, detail, type } = body as Record<string, unknown>
  if (typeof error === 'object' && error !== null) return extractMessage(error)
  const text = [message, error, detail, type].find((field) => typeof field === 'string')
  return text === undefined ? JSON.stringify(body) : String(text)
}

/** Errors of the AI SDK contain the provider's response; errors in a stream are plain objects. */
function getErrorBody(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseBody } = error as { responseBody?: unknown }
  return typeof responseBody === 'string' ? (parseJson(responseBody) ?? error.message) : error.message
}

function getErrorType(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const { type, code, status, error } = body as Record<string, unknown>
  return [type, code, status, getErrorType(error)].filter((field) => typeof field === 'string').join(' ')
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const formatModel = ({ model_id, provider }: RemoteModel): string => `The model ${model_id} (${provider})`

const withMessage = (sentence: string, message: string): string => `${sentence}${message === '' ? '.' : `: ${message}`}`

const formatDuration = (ms: number): string =>
  ms >= 10_000 ? `${Math.round(ms / 1000)} s` : ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`

/** Returns one line of limited length, without control characters and without the key, which some providers repeat. */
function sanitizeMessage(text: string, key: string | null): string {
  // Truncated first: the body of a response can have megabytes.
  const line = redactKey(text.slice(0, MAX_MESSAGE_LENGTH * 4), key, text.length > MAX_MESSAGE_LENGTH * 4)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length <= MAX_MESSAGE_LENGTH ? line : `${line.slice(0, MAX_MESSAGE_LENGTH)}…`
}

function redactKey(text: string, key: string | null, isTruncated: boolean): string {
  if (key === null || key === '') return text
  const redactor = new Redactor()
  redactor.add(key)
  return redactor.redact(isTruncated ? redactor.redactTruncated(text) : text).replaceAll(key, REDACTED)
}

/** Causes are logged, so only the name, message and code are copied. */
function toSafeCause(error: unknown, key: string | null): Error {
  const { name, message, code } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException
  return Object.assign(new Error(sanitizeMessage(message, key)), { name, code })
}
