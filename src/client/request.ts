/** Sends HTTP requests to the service and waits out its rate limit. */
import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDeadlineSignal, type Deadline, scaleTimeout, startDeadline } from '../deadline.ts'
import { parseServiceError, UnreachableError } from './errors.ts'

export interface Connection {
  /** Root URL of the service, without /api. */
  url: string
  token: string | undefined
  /** Opens connections that the daemon has proven to be its own. */
  agent?: Agent | undefined
  /** Whether paths of files are valid on both sides. A profile with a loopback URL may be a tunnel to another machine. */
  isSameMachine?: boolean
  /** Shows a progress line to the user. */
  notify: (line: string) => void
  /** Shows why a request waits, if notify is muted by --quiet. */
  announceWait?: ((line: string) => void) | undefined
  /** Shows what takes longer than SLOW_MS; undefined ends it. */
  showProgress?: ((step: WaitingStep | undefined) => void) | undefined
}

/** What a command waits for. */
export interface WaitingStep {
  label: string
  done: number
  /** Null if unknown. */
  total: number | null
  /** Plural noun, such as documents. */
  unit: string
}

export interface ClientRequest {
  method: string
  /** Path and query, starting with /api. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** Aborts the request this long after its start if the response has not begun. Default: RESPONSE_TIMEOUT_MS. */
  responseTimeoutMs?: number
  /** Aborts the response body after this long without data. */
  idleTimeoutMs?: number
}

export interface ClientResponse {
  status: number
  headers: IncomingHttpHeaders
  body: AsyncIterable<Uint8Array>
  text: () => Promise<string>
}

/** Nobody needs to know what a shorter wait is for. */
export const SLOW_MS = 2_000
/** A local model may need minutes for an answer that is not streamed. */
const RESPONSE_TIMEOUT_MS = 15 * 60_000
/** A response cannot begin before a large body is sent, so this time is added. */
const UPLOAD_BYTES_PER_SECOND = 10_000
const MAX_ATTEMPTS = 4
const MAX_RETRY_AFTER_SECONDS = 90

export async function sendRequest(connection: Connection, request: ClientRequest): Promise<ClientResponse> {
  for (let attempt = 1; ; attempt++) {
    const response = await sendOnce(connection, request)
    const seconds = Number(response.headers['retry-after'] ?? Number.NaN)
    const canRetry = response.status === 429 && attempt < MAX_ATTEMPTS && seconds >= 0 && seconds <= MAX_RETRY_AFTER_SECONDS
    if (!canRetry) return response
    const { message, hint } = parseServiceError(response.status, await response.text())
    const announce = connection.announceWait ?? connection.notify
    announce(`${[message, hint].filter(Boolean).join(' ')} Retrying in ${seconds} s.`)
    await sleep(seconds * 1000, undefined, request.signal ? { signal: request.signal } : {})
  }
}

/** Uses node:http: fetch compiles its parser in every process, which costs more CPU time than a short command. */
export async function sendOnce(connection: Pick<Connection, 'url' | 'token' | 'agent'>, request: ClientRequest): Promise<ClientResponse> {
  const { url, token, agent } = connection
  const { method, path, body, signal, responseTimeoutMs = scaleTimeout(RESPONSE_TIMEOUT_MS), idleTimeoutMs } = request
  const bytes = Buffer.byteLength(body ?? '')
  const length = body === undefined ? {} : { 'content-length': String(bytes) }
  const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...length, ...request.headers }
  const open = url.startsWith('https:') ? (await import('node:https')).request : httpRequest
  // Counts from the start: interim responses such as 102, and headers byte by byte, are no response.
  const limitMs = responseTimeoutMs + Math.floor(bytes / UPLOAD_BYTES_PER_SECOND) * 1_000
  let isReused = false
  let deadline: Deadline | undefined
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers, agent, ...(signal ? { signal } : {}) }
      const opened = open(`${url}${path}`, options, resolve).on('error', (error) => {
        isReused = opened.reusedSocket
        reject(error)
      })
      deadline = startDeadline(limitMs, () => opened.destroy(createResponseError(url, `did not begin within ${limitMs / 1000} seconds`)))
      opened.end(body)
    }).finally(() => deadline?.cancel())
    if (idleTimeoutMs !== undefined) message.setTimeout(idleTimeoutMs, () => message.destroy(createIdleError(url, idleTimeoutMs)))
    return { status: message.statusCode ?? 0, headers: message.headers, body: message, text: () => readText(message, url) }
  } catch (error) {
    if (signal?.aborted || error instanceof UnreachableError) throw error
    const { code, message, hint } = error as NodeJS.ErrnoException & { hint?: string }
    // The service closed an idle connection, which was not noticed yet, such as after the machine slept.
    if (isReused && method === 'GET' && (code === 'ECONNRESET' || code === 'EPIPE')) return sendOnce(connection, request)
    throw new UnreachableError(`Cannot connect to ${url} (${code ?? message}).`, {
      hint: hint ?? 'To check the daemon: cadre daemon status. To start it: cadre daemon start',
      cause: error,
    })
  }
}

/** Gets JSON of any shape within a time limit. */
export async function fetchJson(
  connection: Pick<Connection, 'url' | 'token' | 'agent'>,
  path: string,
  timeoutMs: number,
): Promise<unknown> {
  const response = await sendOnce(connection, { method: 'GET', path, signal: createDeadlineSignal(scaleTimeout(timeoutMs)) })
  return JSON.parse(await response.text())
}

/** A lost connection, which may be opened again. */
const createIdleError = (url: string, idleTimeoutMs: number) =>
  Object.assign(new Error(`No data from ${url} for ${idleTimeoutMs / 1000} seconds.`), { code: 'ETIMEDOUT' })

/** Limits of a response body that is read as a whole. */
export interface BodyLimits {
  maxBytes: number
  /** Time without any data. */
  idleMs: number
  /** Slower bodies end after `idleMs`, such as one byte per second without end. */
  bytesPerSecond: number
}

const BODY_LIMITS: BodyLimits = { maxBytes: 128 * 1024 * 1024, idleMs: 60_000, bytesPerSecond: 1_000 }

export async function readText(message: IncomingMessage, url: string, limits = BODY_LIMITS): Promise<string> {
  const { maxBytes, idleMs, bytesPerSecond } = limits
  const parts: Buffer[] = []
  let bytes = 0
  const startedAt = performance.now()
  const reject = (problem: string) => createResponseError(url, problem)
  message.setTimeout(idleMs, () => message.destroy(reject(`stopped: no data for ${idleMs / 1000} seconds`)))
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    parts.push(part)
    if (bytes > maxBytes) throw reject(`is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`)
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs > idleMs + (bytes / bytesPerSecond) * 1_000) throw reject(`is slower than ${bytesPerSecond} bytes per second`)
  }
  return Buffer.concat(parts).toString('utf8')
}

const createResponseError = (url: string, problem: string) =>
  new UnreachableError(`The response of ${url} ${problem}.`, { hint: 'Check whether this is a Cadre service, and the network.' })
