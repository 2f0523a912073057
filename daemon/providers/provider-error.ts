/** What went wrong at a provider, as an error in its own words, without its key, that knows whether asking again is any use. */
import { CadreError } from '../../src/contract/errors.ts'
import { REDACTED, Redactor } from '../secrets/redactor.ts'

/** Whose failure it is. */
export interface FailedModel {
  id: string
  model_id: string
  provider: string
  api_key: string | null
}

interface ProviderErrorOptions {
  hint?: string | undefined
  cause?: unknown
  /** Whether the same request may be sent again. */
  isRetryable?: boolean
  /** How long the provider wants to be left alone. */
  retryAfterMs?: number | undefined
}

export class ProviderError extends CadreError {
  readonly isRetryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    code: 'PROVIDER_ERROR' | 'PROVIDER_TIMEOUT' | 'ADDRESS_BLOCKED',
    message: string,
    { isRetryable: again = false, retryAfterMs: waitMs, ...options }: ProviderErrorOptions = {},
  ) {
    super(code, message, options)
    this.isRetryable = again
    this.retryAfterMs = waitMs
  }
}

export interface ErrorResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

const WORDS = 400
/** Answers that say the request was not carried out, or not to its end, and that may be another one next time. */
const PASSING = new Set([408, 409, 429, 500, 502, 503, 504, 529])
/** A quota that is used up is not there again in a second. */
const SPENT = /insufficient_quota|billing|credit balance/i
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'EAI_AGAIN'])
const LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])

/** The hosted providers answer nobody without a key; a server of one's own at another address may. */
export const isKeyMissing = ({ provider, endpoint, api_key }: FailedModel & { endpoint: string | null }): boolean =>
  api_key === null && endpoint === null && provider !== 'ollama'

export function createMissingKeyError(model: FailedModel): ProviderError {
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} has no key, so nothing was sent.`, {
    hint: `Give it one with ${newKey(model)}, or let cadre models discover --add take it from the environment of the daemon.`,
  })
}

/** An answer that is an error. */
export function createStatusError(model: FailedModel, host: string, { status, headers, text }: ErrorResponse): ProviderError {
  const words = sanitizeMessage(wordsOf(parsed(text) ?? text), model.api_key)
  const waitMs = askedPatience(headers, text)
  const again = PASSING.has(status) && !(status === 429 && SPENT.test(text))
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} answered ${status}${words === '' ? '.' : `: ${words}`}`, {
    hint: adviceOn(model, status, host, waitMs),
    isRetryable: again,
    retryAfterMs: waitMs,
  })
}

/** The command that gives it another key, which asks for it: in a command line it would stay in the history. */
const newKey = ({ id }: FailedModel): string => `cadre models update ${id} --api-key -`

function adviceOn(model: FailedModel, status: number, host: string, waitMs: number | undefined): string | undefined {
  if (status === 401 || status === 403) return `Check the key of the model. To give it another one: ${newKey(model)}`
  if (status === 404) return `Check the name of the model and its address; ${host} was asked.`
  if (status === 429)
    return waitMs === undefined
      ? 'The provider limits how much may be asked; try again later.'
      : `The provider asks to wait ${seconds(waitMs)}.`
  if (status >= 300 && status < 400)
    return 'Redirects are not followed, since they would carry the key along. Use the address it redirects to.'
  return status >= 500 ? 'The provider has trouble of its own; try again later.' : undefined
}

/** An error that came inside a stream that had begun well. */
export function createStreamError(model: FailedModel, error: unknown): ProviderError {
  const said = detailOf(error)
  const words = sanitizeMessage(wordsOf(said), model.api_key)
  const again = /overloaded|rate_limit|unavailable|server_error|internal/i.test(kindOf(said))
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} broke off its answer${words === '' ? '.' : `: ${words}`}`, {
    isRetryable: again,
    cause: plain(error, model.api_key),
  })
}

/** A stream that ended before its end, or was none. `beginning` is what came of it. */
export function createIncompleteError(model: FailedModel, beginning: string, anything: boolean): ProviderError {
  if (anything) return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} ended its answer in the middle.`, { hint: 'Ask again.' })
  const words = sanitizeMessage(beginning, model.api_key)
  if (words === '') return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} answered nothing.`, { isRetryable: true })
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} answered with something that is no reply of a model: ${words}`, {
    hint: 'Check the address of the model.',
  })
}

export function createTimeoutError(model: FailedModel, host: string, what: string, ms: number): ProviderError {
  return new ProviderError('PROVIDER_TIMEOUT', `${formatModel(model)} at ${host} ${what} ${seconds(ms)}.`)
}

export function createTooLargeError(model: FailedModel, bytes: number): ProviderError {
  return new ProviderError(
    'PROVIDER_ERROR',
    `${formatModel(model)} sent more than ${Math.round(bytes / 1_000_000)} MB for one answer, so it was ended.`,
  )
}

/** What the network or the library said, when it was nothing of the above. */
export function createNetworkError(model: FailedModel, host: string, error: unknown): ProviderError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderError) return cause
    if (cause instanceof CadreError && cause.code === 'ADDRESS_BLOCKED')
      return new ProviderError('ADDRESS_BLOCKED', cause.message, {
        hint: 'If the model is meant to be inside this network, an admin can set its endpoint again.',
      })
  }
  const { code = '', message = '' } = networkError(error)
  const cause = plain(error, model.api_key)
  if (LATE.has(code))
    return new ProviderError('PROVIDER_TIMEOUT', `${formatModel(model)} at ${host} could not be reached in time.`, { cause })
  const hint =
    code === 'ECONNREFUSED'
      ? 'Is the server running there?'
      : code === 'ENOTFOUND'
        ? 'Check the address for a typing error, and that this machine is online.'
        : undefined
  const words = sanitizeMessage(message || code, model.api_key)
  return new ProviderError('PROVIDER_ERROR', `${formatModel(model)} at ${host} cannot be reached${words === '' ? '.' : `: ${words}`}`, {
    hint,
    cause,
    isRetryable: CUT_OFF.has(code),
  })
}

/** The error of the socket, under whatever it was wrapped in. */
function networkError(error: unknown): NodeJS.ErrnoException {
  let found: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error))
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const one: NodeJS.ErrnoException = cause instanceof AggregateError && cause.errors[0] instanceof Error ? cause.errors[0] : cause
    if (one.code !== undefined) found = one
  }
  return found
}

/** By its headers, or in Google's way inside the error. */
function askedPatience(headers: ErrorResponse['headers'], text: string): number | undefined {
  const one = (name: string) => [headers[name]].flat()[0]
  const exact = Number(one('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const after = one('retry-after')
  if (after !== undefined && Number.isFinite(Number(after))) return Math.max(0, Number(after) * 1000)
  const date = Date.parse(after ?? '')
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now())
  const [, delay] = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(text) ?? []
  return delay === undefined ? undefined : Number(delay) * 1000
}

/** What a provider says of a failure, in the shapes there are. */
function wordsOf(said: unknown): string {
  const body = Array.isArray(said) ? said[0] : said
  if (typeof body !== 'object' || body === null) return String(body ?? '')
  const { error, message, detail, type } = body as Record<string, unknown>
  if (typeof error === 'object' && error !== null) return wordsOf(error)
  const words = [message, error, detail, type].find((each) => typeof each === 'string')
  return words === undefined ? JSON.stringify(body) : String(words)
}

/** An error of the library carries the provider's; one of the provider is a plain object. */
function detailOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseBody } = error as { responseBody?: unknown }
  return typeof responseBody === 'string' ? (parsed(responseBody) ?? error.message) : error.message
}

function kindOf(said: unknown): string {
  if (typeof said !== 'object' || said === null) return ''
  const { type, code, status, error } = said as Record<string, unknown>
  return [type, code, status, kindOf(error)].filter((each) => typeof each === 'string').join(' ')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: the text is all there is
  }
}

export const formatModel = ({ model_id, provider }: FailedModel): string => `The model ${model_id} (${provider})`

const seconds = (ms: number): string =>
  ms >= 10_000 ? `${Math.round(ms / 1000)} s` : ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`

/** One line, bounded, without what a terminal would obey, and without the key, which some providers repeat. */
export function sanitizeMessage(text: string, key: string | null): string {
  // Cut first: whoever answers with megabytes is not read to the end, and what lies beyond is not shown.
  const flat = withoutKey(text.slice(0, WORDS * 4), key)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return flat.length <= WORDS ? flat : `${flat.slice(0, WORDS)}…`
}

function withoutKey(text: string, key: string | null): string {
  if (key === null || key === '') return text
  const redactor = new Redactor()
  redactor.add(key)
  return redactor.scrub(text).replaceAll(key, REDACTED)
}

/** The cause reaches the log: only what it says, without what it carries. */
function plain(error: unknown, key: string | null): Error {
  const { name, message, code } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException
  return Object.assign(new Error(sanitizeMessage(message, key)), { name, ...(code === undefined ? {} : { code }) })
}
