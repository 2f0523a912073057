/** Calls any route of the contract: types, path and query all come from the route. */
import type { Pagination, ResponseBody, Route, RouteInput } from '../contract/route.ts'
import { decodeEvents, type ServerEvent } from '../sse.ts'
import { serviceError } from './failures.ts'
import { type Connection, type Reply, type Sent, send } from './request.ts'

interface Options {
  headers?: Record<string, string>
  signal?: AbortSignal
  /** How many milliseconds without a byte of the answer mean that nobody is there any more. */
  longestSilence?: number
}

interface Parts {
  params?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
}

/** Path and query of a route, filled in. */
export function addressOf(route: Pick<Route, 'path'>, { params = {}, query = {} }: Parts): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  return `/api${path}${search.size > 0 ? `?${search}` : ''}`
}

function request(route: Route, input: Parts, options: Options): Sent {
  const hasBody = input.body !== undefined
  return {
    method: route.method,
    path: addressOf(route, input),
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...options.headers },
    ...(hasBody ? { body: JSON.stringify(input.body) } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.longestSilence === undefined ? {} : { longestSilence: options.longestSilence }),
  }
}

export async function call<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: Options = {},
): Promise<ResponseBody<R>> {
  const reply = await send(connection, request(route, input as Parts, options))
  const text = await reply.text()
  if (!isGood(reply)) throw failure(reply, text)
  try {
    return JSON.parse(text) as ResponseBody<R>
  } catch {
    throw failure(reply, text) // not one of ours, whatever its status says
  }
}

/** The events of a route that streams. Whether the last one was a proper end is for the caller to say. */
export async function* stream<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: Options = {},
): AsyncGenerator<ServerEvent> {
  const reply = await send(
    connection,
    request(route, input as Parts, { ...options, headers: { accept: 'text/event-stream', ...options.headers } }),
  )
  if (!isGood(reply)) throw failure(reply, await reply.text())
  yield* decodeEvents(reply.body)
}

export function isGood({ status }: Reply): boolean {
  return status >= 200 && status < 300
}

export function failure(reply: Reply, text: string): Error {
  return serviceError(reply.status, text, reply.headers['x-request-id'] as string | undefined)
}

/** Every item of a paged list, a page at a time. */
export async function* pages<T>(
  read: (page: number) => Promise<{ data: T[]; pagination: Pagination }>,
  first = 1,
): AsyncGenerator<{ data: T[]; pagination: Pagination }> {
  for (let page = first; ; page++) {
    const answer = await read(page)
    yield answer
    if (page >= answer.pagination.pages) return
  }
}
