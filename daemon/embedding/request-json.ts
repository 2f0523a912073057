/** One request to a provider's embeddings endpoint: patient where that is safe, and never with the key in what it says of a failure. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { CadreError } from '../../src/contract/errors.ts'
import type { RemoteModel } from '../providers/remote-model.ts'

export interface EmbeddingTimeouts {
  connectMs: number
  /** To the first byte of the answer, between two of them, and twice this for all of it. */
  responseMs: number
  /** Before the second try, and twice as long before each one after, unless the provider says how long. */
  retryDelayMs: number
  /** A provider that asks for more patience than this is not waited for. */
  maxRetryDelayMs: number
}

export interface EmbeddingRequest {
  dispatcher: Dispatcher
  model: RemoteModel
  url: URL
  headers: Record<string, string>
  body: object
  timeouts: EmbeddingTimeouts
  signal: AbortSignal
}

interface Reply {
  status: number
  retryAfter: string | undefined
  text: string
}

const TRIES_AGAIN = 3
/** Answers that say the request was not carried out. A vector has no effect, so asking for it twice does no harm but its price. */
const REFUSED = new Set([429, 503])
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])
const WORDS = 300
const INSIDE = 'If the model is meant to be inside this network, an admin can set its endpoint again.'

/** The parsed answer. */
export async function requestJson(asked: EmbeddingRequest): Promise<unknown> {
  for (let again = 0; ; again++) {
    const reply = await attempt(asked, again < TRIES_AGAIN)
    if (reply !== undefined && reply.status >= 200 && reply.status < 300) return parsed(asked, reply.text)
    const wait = reply === undefined || REFUSED.has(reply.status) ? patience(asked.timeouts, reply?.retryAfter, again) : undefined
    if (reply !== undefined && (again >= TRIES_AGAIN || wait === undefined || wait > asked.timeouts.maxRetryDelayMs))
      throw refused(asked, reply)
    await pause(wait, undefined, { signal: asked.signal }).catch(() => asked.signal.throwIfAborted())
  }
}

/** Nothing where the connection was cut off and there may be another try. */
async function attempt(
  { dispatcher, url, headers, body, timeouts: times, signal, model }: EmbeddingRequest,
  another: boolean,
): Promise<Reply | undefined> {
  signal.throwIfAborted()
  const limit = AbortSignal.timeout(times.responseMs * 2)
  try {
    const answer = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, limit]),
    })
    const retryAfter = answer.headers['retry-after']
    return { status: answer.statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, text: await answer.body.text() }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CadreError && error.code === 'ADDRESS_BLOCKED')
      throw new CadreError(error.code, error.message, { hint: INSIDE, cause: error })
    const { code = '', message } = error as Error & { code?: string }
    const place = `${named(model)} at ${url.host}`
    if (limit.aborted || LATE.has(code))
      throw new CadreError('PROVIDER_TIMEOUT', `${place} did not answer in time.`, { cause: plain(error, model.api_key) })
    if (CUT_OFF.has(code) && another) return undefined
    const hint = code === 'ECONNREFUSED' ? 'Is the server running there?' : undefined
    throw new CadreError('PROVIDER_ERROR', `${place} cannot be reached: ${clean(message || code, model.api_key)}`, {
      hint,
      cause: plain(error, model.api_key),
    })
  }
}

function patience(times: EmbeddingTimeouts, retryAfter: string | undefined, again: number): number {
  const seconds = Number(retryAfter)
  if (retryAfter !== undefined && Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(retryAfter ?? '')
  return Number.isNaN(date) ? times.retryDelayMs * 2 ** again : Math.max(0, date - Date.now())
}

function parsed({ model }: EmbeddingRequest, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CadreError('PROVIDER_ERROR', `${named(model)} answered with something that is no JSON: ${clean(text, model.api_key)}`, {
      hint: 'Check the address of the model.',
      cause: plain(error, model.api_key),
    })
  }
}

function refused({ model, url }: EmbeddingRequest, { status, text }: Reply): CadreError {
  const words = clean(wordsOf(text), model.api_key)
  const hint =
    status === 401 || status === 403
      ? 'Check the key of the model.'
      : status === 404
        ? `Check the name of the model, and its address: ${url.host} was asked for ${url.pathname}.`
        : status === 429
          ? 'The provider limits how much may be asked; try again later.'
          : undefined
  return new CadreError('PROVIDER_ERROR', `${named(model)} answered ${status}${words === '' ? '.' : `: ${words}`}`, { hint })
}

/** What a provider says of a failure, in the shapes there are. */
function wordsOf(text: string): string {
  try {
    const body = JSON.parse(text) as unknown
    const { error, message } = ((Array.isArray(body) ? body[0] : body) ?? {}) as { error?: unknown; message?: unknown }
    const said = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : (error ?? message)
    return typeof said === 'string' ? said : text
  } catch {
    // Not JSON: the text is all there is.
    return text
  }
}

const named = ({ model_id, provider }: RemoteModel): string => `The embedding model ${model_id} (${provider})`

function clean(text: string, key: string | null): string {
  const safe = key === null || key === '' ? text : text.replaceAll(key, '[key]')
  const flat = safe.replace(/\s+/g, ' ').trim()
  return flat.length <= WORDS ? flat : `${flat.slice(0, WORDS)}…`
}

/** The cause reaches the log: only what it says, without what it carries. */
function plain(error: unknown, key: string | null): Error {
  const { name, message, code } = error as Error & { code?: string }
  return Object.assign(new Error(clean(message, key)), { name, ...(code === undefined ? {} : { code }) })
}
