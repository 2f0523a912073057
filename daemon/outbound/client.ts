/** The HTTP client for URLs that users configure (API tools, webhooks, web pages). Blocks private addresses unless allowed. */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { CadreError } from '../../src/contract/errors.ts'
import { startDeadline } from '../../src/deadline.ts'
import { ACCEPTED_ENCODINGS, decompress, discardBody, readBody } from './body.ts'
import { checkHost } from './check-address.ts'
import { ConnectionPool, systemResolve } from './connection-pool.ts'
import { type Resolve, resolveAllowedAddresses } from './guarded-connector.ts'
import { createTimeoutError, toOutboundError } from './outbound-error.ts'
import { createFirstHop, createNextHop, type Hop } from './redirects.ts'

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024
const MAX_REDIRECTS = 5
/** Common servers close a connection after five idle seconds. */
const KEEP_ALIVE_MS = 4_000

interface OutboundRequest {
  method?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | Uint8Array | undefined
  /** Allows private and loopback addresses. Metadata services, multicast and the like stay blocked. */
  allowPrivateNetwork?: boolean | undefined
  /** Limit for the whole request: redirects, headers and body. */
  timeoutMs?: number | undefined
  /** Maximum size of the body after decompression. The rest is not read. */
  maxBytes?: number | undefined
  /** Maximum number of redirects to follow. With 0, the redirect itself is returned. */
  maxRedirects?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with the final headers. Returning false skips the body. */
  shouldReadBody?: ((status: number, headers: Readonly<Record<string, string>>) => boolean) | undefined
}

export interface OutboundResponse {
  status: number
  /** Names are in lower case; repeated headers are joined with a comma. */
  headers: Record<string, string>
  body: Uint8Array
  /** The final URL, after redirects. */
  url: string
  /** Whether the body exceeds the limit. */
  truncated: boolean
}

/** A response whose body the caller reads or destroys. */
interface OpenedResponse {
  status: number
  headers: Record<string, string>
  body: Readable
  url: string
}

export interface Outbound {
  request(url: string | URL, request?: OutboundRequest): Promise<OutboundResponse>
  /** For streams: the time limit ends with the headers, and redirects are returned. The signal also aborts the body. */
  open(url: string | URL, request: Omit<OutboundRequest, 'maxBytes' | 'maxRedirects' | 'shouldReadBody'>): Promise<OpenedResponse>
  /** Resolves a host for programs that open their own connections, such as git. Throws ADDRESS_BLOCKED. */
  resolveAddresses(host: string, allowPrivateNetwork?: boolean): Promise<string[]>
  /** Aborts running requests and closes idle connections. */
  close(): Promise<void>
}

interface OutboundOptions {
  /** Tests replace the DNS resolver. */
  resolve?: Resolve | undefined
  /** Returns the headers that continue the current trace. */
  getTraceHeaders?(): Readonly<Record<string, string>>
}

export function createOutbound({ resolve = systemResolve, getTraceHeaders = () => ({}) }: OutboundOptions = {}): Outbound {
  return new GuardedClient(resolve, getTraceHeaders)
}

class GuardedClient implements Outbound {
  readonly #resolve: Resolve
  readonly #getTraceHeaders: () => Readonly<Record<string, string>>
  readonly #connections: ConnectionPool

  constructor(resolve: Resolve, getTraceHeaders: () => Readonly<Record<string, string>>) {
    this.#resolve = resolve
    this.#getTraceHeaders = getTraceHeaders
    this.#connections = new ConnectionPool({ resolve, keepAliveTimeout: KEEP_ALIVE_MS })
  }

  async request(address: string | URL, request: OutboundRequest = {}): Promise<OutboundResponse> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request
    let hop = createFirstHop(address, request.method ?? 'GET', request.headers ?? {}, request.body)
    signal?.throwIfAborted()
    const ending = new AbortController()
    const abort = () => ending.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const deadline = startDeadline(timeoutMs, () => ending.abort(createTimeoutError(hop.url, undefined, timeoutMs)))
    try {
      return await this.#followRedirects(hop, request, ending.signal, (next) => {
        hop = next
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw ending.signal.aborted ? ending.signal.reason : toOutboundError(error, hop.url)
    } finally {
      deadline.cancel()
      signal?.removeEventListener('abort', abort)
    }
  }

  async open(address: string | URL, request: OutboundRequest): Promise<OpenedResponse> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request
    const hop = createFirstHop(address, request.method ?? 'GET', request.headers ?? {}, request.body)
    signal?.throwIfAborted()
    const ending = new AbortController()
    const deadline = startDeadline(timeoutMs, () => ending.abort(createTimeoutError(hop.url, undefined, timeoutMs)))
    try {
      const all = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
      const answer = await this.#send(hop, request.allowPrivateNetwork === true, all)
      const headers = joinHeaders(answer.headers)
      // The body is decompressed, and its length is a different one.
      const { 'content-encoding': encoding, 'content-length': _, ...others } = headers
      return { status: answer.statusCode, headers: others, body: decompress(answer.body, encoding), url: hop.url.href }
    } catch (error) {
      signal?.throwIfAborted()
      throw ending.signal.aborted ? ending.signal.reason : toOutboundError(error, hop.url)
    } finally {
      deadline.cancel()
    }
  }

  async resolveAddresses(host: string, allowPrivateNetwork = false): Promise<string[]> {
    try {
      return (await resolveAllowedAddresses(this.#resolve, host, allowPrivateNetwork)).map(({ address }) => address)
    } catch (error) {
      throw toOutboundError(error, new URL(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`))
    }
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  async #followRedirects(first: Hop, request: OutboundRequest, signal: AbortSignal, moved: (hop: Hop) => void): Promise<OutboundResponse> {
    const most = Math.min(request.maxRedirects ?? MAX_REDIRECTS, MAX_REDIRECTS)
    let hop = first
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#send(hop, request.allowPrivateNetwork === true, signal)
      const headers = joinHeaders(answer.headers)
      const next = most === 0 ? undefined : getNextHop(hop, answer, headers)
      if (!next) return await readResponse(hop, answer, headers, request)
      discardBody(answer.body)
      if (redirects === most) throw new CadreError('PROVIDER_ERROR', `${first.url.host} redirects more than ${most} times.`)
      hop = next
      moved(hop)
    }
  }

  async #send({ url, method, headers, body }: Hop, allowPrivateNetwork: boolean, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    // The connector checks again; this fails before anything is prepared.
    checkHost(url.hostname, allowPrivateNetwork)
    const agent = await this.#connections.getAgent(allowPrivateNetwork)
    signal.throwIfAborted()
    return agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers: { ...this.#getTraceHeaders(), ...headers, 'accept-encoding': ACCEPTED_ENCODINGS },
      body: body === undefined ? null : Buffer.from(body as string),
      signal,
      // The request has an overall time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }
}

function getNextHop(hop: Hop, answer: Dispatcher.ResponseData, headers: Record<string, string>): Hop | undefined {
  try {
    return createNextHop(hop, answer.statusCode, headers.location)
  } catch (error) {
    discardBody(answer.body)
    throw error
  }
}

async function readResponse(
  hop: Hop,
  { statusCode: status, body: stream }: Dispatcher.ResponseData,
  headers: Record<string, string>,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const url = hop.url.href
  if (request.shouldReadBody && !request.shouldReadBody(status, headers)) {
    discardBody(stream)
    return { status, headers, body: new Uint8Array(), url, truncated: true }
  }
  // A response without a body may still have a Content-Encoding header.
  const empty = hop.method === 'HEAD' || status === 204 || status === 304 || headers['content-length'] === '0'
  const encoding = empty ? undefined : headers['content-encoding']
  return { status, headers, url, ...(await readBody(stream, encoding, request.maxBytes ?? DEFAULT_MAX_BYTES)) }
}

function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const known = Object.entries(headers).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value as string)]))
}
