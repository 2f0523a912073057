/** A client that sends each request to a random daemon, and repeats it with the same Idempotency-Key until it is acknowledged. */
import { setTimeout as pause } from 'node:timers/promises'
import { EventDecoder, type ServerEvent } from '../../src/sse.ts'
import { TOKEN } from '../../test/harness/daemon.ts'
import type { Json } from '../../test/harness/test-server.ts'

/** A daemon that ended is replaced within 30 seconds, and the servers may be away for ten more. */
const ACKNOWLEDGE_TIMEOUT_MS = 90_000
const REQUEST_TIMEOUT_MS = 60_000
const RETRY_DELAY_MS = 250

export interface Request {
  method: string
  path: string
  body?: object | undefined
  key?: string | undefined
  headers?: Record<string, string>
}

export interface Acknowledged {
  status: number
  data: Json
  body: Json
}

/** A status that the same request may not get again later. */
const isTemporary = (status: number) => status >= 500 || status === 429

export class ChaosClient {
  readonly #urls: readonly string[]
  readonly #random: () => number
  /** Ends all waiting, when the run has failed. */
  readonly stopping = new AbortController()
  requests = 0
  repeated = 0
  /** How often requests were repeated after a status, with 0 for lost connections. */
  readonly #statuses = new Map<number, number>()

  constructor(urls: readonly string[], random: () => number) {
    this.#urls = urls
    this.#random = random
  }

  /** Returns the response once it is not temporary. Throws if that takes too long. */
  async send(request: Request, accepted: readonly number[] = []): Promise<Acknowledged> {
    let last = ''
    for (const deadline = Date.now() + ACKNOWLEDGE_TIMEOUT_MS; Date.now() < deadline; ) {
      this.stopping.signal.throwIfAborted()
      const answer = await this.#attempt(request)
      if (answer !== undefined && (answer.status < 300 || accepted.includes(answer.status))) return answer
      if (answer !== undefined && !isTemporary(answer.status)) throw new Error(describe(request, answer))
      this.#count(answer?.status ?? 0)
      last = answer === undefined ? 'connection lost' : describe(request, answer)
      await pause(RETRY_DELAY_MS)
    }
    throw new Error(`${request.method} ${request.path} was not acknowledged within ${ACKNOWLEDGE_TIMEOUT_MS / 1000} s: ${last}`)
  }

  get = (path: string, accepted?: readonly number[]) => this.send({ method: 'GET', path }, accepted)
  post = async (path: string, body: object | undefined, key: string): Promise<Json> =>
    (await this.send({ method: 'POST', path, body, key })).data

  /** Reads all pages of a list. */
  async list(path: string): Promise<Json[]> {
    const all: Json[] = []
    for (let page = 1; ; page++) {
      const { body } = await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=100&sort=id&order=asc&page=${page}`)
      all.push(...body.data)
      if (page >= body.pagination.pages) return all
    }
  }

  /** Yields the events of one response; ends when the connection is lost. Yields nothing if the request should be repeated. */
  async *stream(request: Request): AsyncGenerator<ServerEvent> {
    this.stopping.signal.throwIfAborted()
    const leave = new AbortController()
    try {
      const response = await this.#fetch(request, leave.signal)
      if (!response.ok || !response.body) {
        const answer = { status: response.status, body: await response.json().catch(() => undefined), data: undefined }
        if (!isTemporary(answer.status)) throw new Error(describe(request, answer))
        this.#count(answer.status)
        return
      }
      const decoder = new EventDecoder()
      const text = new TextDecoder()
      for await (const part of response.body) yield* decoder.push(text.decode(part as Uint8Array, { stream: true }))
    } catch (error) {
      if (!isLostConnection(error)) throw error
      this.#count(0)
    } finally {
      leave.abort()
    }
  }

  /** Why requests were repeated. */
  formatReasons(): string {
    return [...this.#statuses].map(([status, count]) => `${count} × ${status === 0 ? 'lost' : status}`).join(', ')
  }

  async #attempt(request: Request): Promise<Acknowledged | undefined> {
    try {
      const response = await this.#fetch(request, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
      const text = await response.text()
      const body = text === '' ? undefined : (JSON.parse(text) as Json)
      return { status: response.status, body, data: body?.data }
    } catch (error) {
      if (isLostConnection(error)) return undefined
      throw error
    }
  }

  #fetch({ method, path, body, key, headers }: Request, signal: AbortSignal): Promise<Response> {
    this.requests++
    const url = this.#urls[Math.floor(this.#random() * this.#urls.length)]
    return fetch(`${url}/api${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  #count(status: number): void {
    this.repeated++
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
  }
}

/** Of a daemon that was killed: refused, reset, or ended within a response. */
const isLostConnection = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof SyntaxError || (error as Error).name === 'TimeoutError'

const describe = ({ method, path }: Request, { status, body }: Acknowledged): string =>
  `${method} ${path} returned ${status}: ${JSON.stringify(body)?.slice(0, 500)}`
