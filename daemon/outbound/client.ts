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
  const connections = new ConnectionPool({ resolve, keepAliveTimeout: KEEP_ALIVE_MS })

  async function send({ url, method, headers, body }: Hop, allowPrivate = false, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    // The connector checks again; this fails before anything is prepared.
    checkHost(url.hostname, allowPrivate)
    const agent = await connections.getAgent(allowPrivate)
    signal.throwIfAborted()
    return agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers: { ...getTraceHeaders(), ...headers, 'accept-encoding': ACCEPTED_ENCODINGS },
      body: body === undefined ? null : Buffer.from(body as string),
      signal,
      // The request has an overall time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  return {
    async request(address, request = {}) {
      const first = createFirstHop(address, request)
      let hop = first
      const most = Math.min(request.maxRedirects ?? MAX_REDIRECTS, MAX_REDIRECTS)
      const followRedirects = async (signal: AbortSignal): Promise<OutboundResponse> => {
        for (let redirects = 0; ; redirects++) {
          const answer = await send(hop, request.allowPrivateNetwork, signal)
          const headers = joinHeaders(answer.headers)
          const next = most === 0 ? undefined : getNextHop(hop, answer, headers)
          if (!next) return await readResponse(hop, answer, headers, request)
          discardBody(answer.body)
          if (redirects === most) throw new CadreError('PROVIDER_ERROR', `${first.url.host} redirects more than ${most} times.`)
          hop = next
        }
      }
      return runWithin(request, () => hop.url, followRedirects)
    },
    async open(address, request) {
      const hop = createFirstHop(address, request)
      const openBody = async (ending: AbortSignal) => {
        const signal = request.signal ? AbortSignal.any([request.signal, ending]) : ending
        const answer = await send(hop, request.allowPrivateNetwork, signal)
        // The body is decompressed, and its length is a different one.
        const { 'content-encoding': encoding, 'content-length': _, ...headers } = joinHeaders(answer.headers)
        return { status: answer.statusCode, headers, body: decompress(answer.body, encoding), url: hop.url.href }
      }
      return runWithin(request, () => hop.url, openBody)
    },
    async resolveAddresses(host, allowPrivateNetwork = false) {
      try {
        return (await resolveAllowedAddresses(resolve, host, allowPrivateNetwork)).map(({ address }) => address)
      } catch (error) {
        throw toOutboundError(error, new URL(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`))
      }
    },
    close: () => connections.close(),
  }
}

/** Ends the work after the time limit of the request, or when its signal is aborted, and translates errors. */
async function runWithin<T>(
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: OutboundRequest,
  getUrl: () => URL,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const ending = new AbortController()
  const abort = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const deadline = startDeadline(timeoutMs, () => ending.abort(createTimeoutError(getUrl(), undefined, timeoutMs)))
  try {
    return await work(ending.signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw ending.signal.aborted ? ending.signal.reason : toOutboundError(error, getUrl())
  } finally {
    deadline.cancel()
    signal?.removeEventListener('abort', abort)
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
