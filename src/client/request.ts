/** Sends HTTP requests to the service and waits out its rate limit. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseServiceError, UnreachableError } from './errors.ts'

export interface Connection {
  /** Root URL of the service, without /api. */
  url: string
  token: string | undefined
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
  unit: string
}

export interface ClientRequest {
  method: string
  /** Path and query, starting with /api. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
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
export async function sendOnce({ url, token }: Pick<Connection, 'url' | 'token'>, request: ClientRequest): Promise<ClientResponse> {
  const { method, path, body, signal, idleTimeoutMs } = request
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...length, ...request.headers }
  const open = url.startsWith('https:') ? (await import('node:https')).request : httpRequest
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      open(`${url}${path}`, { method, headers, ...(signal ? { signal } : {}) }, resolve)
        .on('error', reject)
        .end(body)
    })
    if (idleTimeoutMs !== undefined)
      message.setTimeout(idleTimeoutMs, () => message.destroy(new Error(`No data from ${url} for ${idleTimeoutMs / 1000} seconds.`)))
    return { status: message.statusCode ?? 0, headers: message.headers, body: message, text: () => readText(message) }
  } catch (error) {
    if (signal?.aborted) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new UnreachableError(`Cannot connect to ${url} (${code ?? message}).`, {
      hint: 'To check the daemon: cadre daemon status. To start it: cadre daemon start',
      cause: error,
    })
  }
}

async function readText(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8')
  let text = ''
  for await (const chunk of message) text += chunk
  return text
}
