/** Calls the routes of the contract; types, path and query come from the route. */
import { getRoutePath, type ResponseBody, type Route, type RouteInput } from '../contract/route.ts'
import type { Pagination } from '../contract/schemas/list-query.ts'
import { decodeEvents, type ServerEvent } from '../sse.ts'
import { parseServiceError } from './errors.ts'
import { type ClientRequest, type ClientResponse, type Connection, sendRequest } from './request.ts'

type CallOptions = Pick<ClientRequest, 'headers' | 'signal' | 'idleTimeoutMs'>

interface RequestParts {
  params?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
}

/** Returns the path of a route with parameters and query filled in. */
export function buildPath(route: Pick<Route, 'path' | 'protocol'>, { params = {}, query = {} }: RequestParts): string {
  const path = getRoutePath(route).replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  return `${path}${search.size > 0 ? `?${search}` : ''}`
}

function buildRequest(route: Route, input: RequestParts, { headers, ...options }: CallOptions): ClientRequest {
  const request = { ...options, method: route.method, path: buildPath(route, input) }
  return input.body === undefined
    ? { ...request, headers: { ...headers } }
    : { ...request, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(input.body) }
}

export async function call<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: CallOptions = {},
): Promise<ResponseBody<R>> {
  const response = await sendRequest(connection, buildRequest(route, input as RequestParts, options))
  const text = await response.text()
  if (!isSuccess(response)) throw createResponseError(response, text)
  try {
    return JSON.parse(text) as ResponseBody<R>
  } catch {
    throw createResponseError(response, text) // a proxy or another program answered
  }
}

/** Yields the events of a streaming route. The caller checks that the last one is a terminal event. */
export async function* stream<R extends Route>(
  connection: Connection,
  route: R,
  input: RouteInput<R>,
  options: CallOptions = {},
): AsyncGenerator<ServerEvent> {
  const headers = { accept: 'text/event-stream', ...options.headers }
  const response = await sendRequest(connection, buildRequest(route, input as RequestParts, { ...options, headers }))
  if (!isSuccess(response)) throw createResponseError(response, await response.text())
  yield* decodeEvents(response.body)
}

export function isSuccess({ status }: ClientResponse): boolean {
  return status >= 200 && status < 300
}

export function createResponseError(response: ClientResponse, text: string): Error {
  return parseServiceError(response.status, text, response.headers['x-request-id'] as string | undefined)
}

/** Yields the pages of a list from `first` to the last. */
export async function* paginate<T>(
  read: (page: number) => Promise<{ data: T[]; pagination: Pagination }>,
  first = 1,
): AsyncGenerator<{ data: T[]; pagination: Pagination }> {
  for (let page = first; ; page++) {
    const response = await read(page)
    yield response
    if (page >= response.pagination.pages) return
  }
}
