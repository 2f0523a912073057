/** One HTTP request to the service: bearer token, waiting out rate limits, and unreachable told apart from refused. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { UnreachableError } from './errors.ts'

export interface Connection {
  /** Root address of the service, without /api. */
  url: string
  token: string | undefined
  /** Tells the person at the terminal what is happening. */
  notify: (line: string) => void
}

export interface ClientRequest {
  method: string
  /** Path and query, from /api on. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** How many milliseconds without a byte of the answer end it; they count from its first line on. */
  idleTimeoutMs?: number
}

export interface ClientResponse {
  status: number
  headers: IncomingHttpHeaders
  body: AsyncIterable<Uint8Array>
  text: () => Promise<string>
}

const MAX_ATTEMPTS = 4
const MAX_RETRY_AFTER_SECONDS = 90

export async function sendRequest(connection: Connection, sent: ClientRequest): Promise<ClientResponse> {
  for (let attempt = 1; ; attempt++) {
    const reply = await sendOnce(connection, sent)
    const seconds = Number(reply.headers['retry-after'] ?? Number.NaN)
    const worthWaiting = reply.status === 429 && attempt < MAX_ATTEMPTS && seconds >= 0 && seconds <= MAX_RETRY_AFTER_SECONDS
    if (!worthWaiting) return reply
    await reply.text()
    connection.notify(`The rate limit is reached; trying again in ${seconds} s. CADRE_RATE_LIMIT in the daemon's environment changes it.`)
    await wait(seconds * 1000, undefined, sent.signal ? { signal: sent.signal } : {})
  }
}

/** Node's own HTTP client: fetch compiles its parser anew in every process, which costs more CPU than all of a short command. */
export async function sendOnce({ url, token }: Pick<Connection, 'url' | 'token'>, sent: ClientRequest): Promise<ClientResponse> {
  const { method, body, signal, idleTimeoutMs: longestSilence } = sent
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...length, ...sent.headers }
  const request = url.startsWith('https:') ? (await import('node:https')).request : httpRequest
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${url}${sent.path}`, { method, headers, ...(signal ? { signal } : {}) }, resolve)
        .on('error', reject)
        .end(body)
    })
    if (longestSilence !== undefined)
      message.setTimeout(longestSilence, () => message.destroy(new Error(`Nothing came from ${url} for ${longestSilence / 1000} seconds.`)))
    return { status: message.statusCode ?? 0, headers: message.headers, body: message, text: () => readText(message) }
  } catch (error) {
    if (signal?.aborted) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new UnreachableError(`Nothing answers at ${url} (${code ?? message}).`, {
      hint: 'cadre daemon status shows what is running; cadre daemon start starts it.',
      cause: error,
    })
  }
}

async function readText(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8')
  let text = ''
  for await (const piece of message) text += piece
  return text
}
