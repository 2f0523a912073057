/** A `fetch` function that uses the outbound client, for libraries that bring their own protocol. It does not follow redirects. */
import { CadreError } from '../../src/contract/errors.ts'
import type { Outbound } from './client.ts'

/** What decides how a body is read. */
export interface ResponseHead {
  /** The types that the request accepts. */
  accept: string
  status: number
  contentType: string
}

interface GuardedFetchOptions {
  allowPrivateNetwork: boolean
  /** Until the headers of the response arrive. */
  timeoutMs: number
  /** Returns a function that is called with each part of the body. It returns why reading must stop, if it must. */
  createLimit(head: ResponseHead): (part: Uint8Array) => string | undefined
}

/** Responses to these statuses have no body. */
const EMPTY_STATUSES = [204, 205, 304]

export function createGuardedFetch(
  outbound: Outbound,
  { allowPrivateNetwork, timeoutMs, createLimit }: GuardedFetchOptions,
): (address: string | URL, init?: RequestInit) => Promise<Response> {
  return async (address, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const { method = 'GET', body, signal } = init
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams))
      throw new TypeError('Only text can be sent.')
    if (body instanceof URLSearchParams) headers['content-type'] ??= 'application/x-www-form-urlencoded'
    const opened = await outbound.open(address, {
      method,
      headers,
      body: body === undefined || body === null ? undefined : String(body),
      allowPrivateNetwork,
      timeoutMs,
      signal: signal ?? undefined,
    })
    const hasBody = !EMPTY_STATUSES.includes(opened.status)
    const head = { accept: headers.accept ?? '', status: opened.status, contentType: String(opened.headers['content-type'] ?? '') }
    const stream = hasBody ? ReadableStream.from(limitParts(opened.body, createLimit(head))) : null
    if (!hasBody) opened.body.destroy()
    const response = new Response(stream as ConstructorParameters<typeof Response>[0], { status: opened.status, headers: opened.headers })
    Object.defineProperty(response, 'url', { value: opened.url })
    return response
  }

  async function* limitParts(body: AsyncIterable<Uint8Array>, check: (part: Uint8Array) => string | undefined): AsyncGenerator<Uint8Array> {
    for await (const part of body) {
      const exceeded = check(part)
      if (exceeded) throw new CadreError('PROVIDER_ERROR', `The server ${exceeded}.`)
      yield new Uint8Array(part)
    }
  }
}
