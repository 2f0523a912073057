/** Calls any route of the contract: types, path and query all come from the route. */
import type { Pagination, ResponseBody, Route, RouteInput } from '../contract/route.ts'
import { decodeEvents, type ServerEvent } from '../sse.ts'
import { parseServiceError } from './errors.ts'
import { type ClientRequest, type ClientResponse, type Connection, sendRequest } from './request.ts'

interface CallOptions {
  headers?: Record<string, string>
  signal?: AbortSignal
  /** How many milliseconds without a byte of the answer mean that nobody is there any more. */
  idleTimeoutMs?: number
}

interface RequestParts {
  params?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
}

/** Path and query of a route, filled in. */
export function buildPath(route: Pick<Route, 'path'>, { params = {}, query = {} }: RequestParts): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  return `/api${path}${search.size > 0 ? `?${search}` : ''}`
}

function buildRequest(route: Route, input: RequestParts, options: CallOptions): ClientRequest {
  const hasBody = input.body !== undefined
  return {
    method: route.method,
    path: buildPath(route, input),
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...options.headers },
    ...(hasBody ? { body: JSON.stringify(input.body) } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }),
  }
}

export async function call<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: CallOptions = {},
): Promise<ResponseBody<R>> {
  const reply = await sendRequest(connection, buildRequest(route, input as RequestParts, options))
  const text = await reply.text()
  if (!isSuccess(reply)) throw createResponseError(reply, text)
  try {
    return JSON.parse(text) as ResponseBody<R>
  } catch {
    throw createResponseError(reply, text) // not one of ours, whatever its status says
  }
}

/** The events of a route that streams. Whether the last one was a proper end is for the caller to say. */
export async function* stream<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: CallOptions = {},
): AsyncGenerator<ServerEvent> {
  const reply = await sendRequest(
    connection,
    buildRequest(route, input as RequestParts, { ...options, headers: { accept: 'text/event-stream', ...options.headers } }),
  )
  if (!isSuccess(reply)) throw createResponseError(reply, await reply.text())
  yield* decodeEvents(reply.body)
}

export function isSuccess({ status }: ClientResponse): boolean {
  return status >= 200 && status < 300
}

export function createResponseError(reply: ClientResponse, text: string): Error {
  return parseServiceError(reply.status, text, reply.headers['x-request-id'] as string | undefined)
}

/** Every item of a paged list, a page at a time. */
export async function* paginate<T>(
  read: (page: number) => Promise<{ data: T[]; pagination: Pagination }>,
  first = 1,
): AsyncGenerator<{ data: T[]; pagination: Pagination }> {
  for (let page = first; ; page++) {
    const answer = await read(page)
    yield answer
    if (page >= answer.pagination.pages) return
  }
}
