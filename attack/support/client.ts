/** Sends requests to a daemon over a pool of connections. */
import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { TOKEN } from '../../test/harness/daemon.ts'
import type { Json } from '../../test/harness/test-server.ts'

export interface ClientResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** Undefined if the response is not JSON. */
  body: Json
  data: Json
}

export interface CallOptions {
  token?: string
  key?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

export class Client {
  readonly #pool: Pool

  constructor(url: string, connections = 16) {
    this.#pool = new Pool(url, { connections, pipelining: 1 })
  }

  /** Sends a request to a path below /api, unless it begins with /api or /v1. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    { token = TOKEN, key, headers, signal }: CallOptions = {},
  ): Promise<ClientResponse> {
    const reply = await this.#send({
      method: method as 'GET',
      path: /^\/(api|v1)\//.test(path) ? path : `/api${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      // Replies of slow models and resumed connections take longer than the default of undici.
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
    })
    const text = await reply.body.text()
    const isJson = String(reply.headers['content-type']).startsWith('application/json') && text !== ''
    const json = isJson ? (JSON.parse(text) as Json) : undefined
    return { status: reply.statusCode, headers: reply.headers, text, body: json, data: json?.data }
  }

  /** The errors of undici do not say which request failed. */
  async #send(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#pool.request(request)
    } catch (error) {
      throw new Error(`${request.method} ${request.path} failed: ${(error as Error).message}`, { cause: error })
    }
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options)
  post = (path: string, body?: unknown, options?: CallOptions) => this.call('POST', path, body, options)

  /** Creates a resource and returns it. */
  async create(path: string, body: unknown): Promise<Json> {
    const { status, text, data } = await this.post(path, body)
    if (status >= 300) throw new Error(`POST ${path} returned ${status}: ${text.slice(0, 500)}`)
    return data
  }

  /** Reads all pages of a list. */
  async list(path: string): Promise<Json[]> {
    const all: Json[] = []
    for (let page = 1; ; page++) {
      const { status, text, body } = await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=100&sort=id&order=asc&page=${page}`)
      if (status !== 200) throw new Error(`GET ${path} returned ${status}: ${text.slice(0, 500)}`)
      all.push(...body.data)
      if (page >= body.pagination.pages) return all
    }
  }

  close = (): Promise<void> => this.#pool.destroy()
}
