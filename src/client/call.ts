/** Calls the routes of the contract; types, path and query come from the route. */
import { getRoutePath, type ResponseBody, type Route, type RouteInput } from '../contract/route.ts'
import { scaleTimeout } from '../deadline.ts'
import { decodeEvents, type ServerEvent } from '../sse.ts'
import { parseServiceError } from './errors.ts'
import { type ClientRequest, type ClientResponse, type Connection, SLOW_MS, sendRequest } from './request.ts'

interface CallOptions extends Pick<ClientRequest, 'headers' | 'signal' | 'responseTimeoutMs' | 'idleTimeoutMs'> {
  /** Receives the headers of a response, such as its ETag. */
  onHeaders?: (headers: ClientResponse['headers']) => void
}

/** The daemon sends at least a comment every 10 seconds. */
const STREAM_IDLE_TIMEOUT_MS = 35_000

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

function buildRequest(route: Route, input: RequestParts, { headers, onHeaders: _, ...options }: CallOptions): ClientRequest {
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
  const { response, text } = await showIfSlow(connection, route.summary, async () => {
    const received = await sendRequest(connection, buildRequest(route, input as RequestParts, options))
    return { response: received, text: await received.text() }
  })
  if (!isSuccess(response)) throw createResponseError(response, text)
  options.onHeaders?.(response.headers)
  try {
    return JSON.parse(text) as ResponseBody<R>
  } catch {
    throw createResponseError(response, text) // a proxy or another program answered
  }
}

/** Shows the label while the work takes longer than SLOW_MS. */
export async function showIfSlow<T>({ showProgress }: Pick<Connection, 'showProgress'>, label: string, work: () => Promise<T>): Promise<T> {
  if (!showProgress) return work()
  let isShown = false
  const timer = setTimeout(() => {
    isShown = true
    showProgress({ label, done: 0, total: null, unit: '' })
  }, SLOW_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    if (isShown) showProgress(undefined)
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
  const { idleTimeoutMs = scaleTimeout(STREAM_IDLE_TIMEOUT_MS) } = options
  const response = await sendRequest(connection, buildRequest(route, input as RequestParts, { ...options, idleTimeoutMs, headers }))
  if (!isSuccess(response) || !response.headers['content-type']?.startsWith('text/event-stream'))
    throw createResponseError(response, await response.text())
  yield* decodeEvents(response.body)
}

export function isSuccess({ status }: ClientResponse): boolean {
  return status >= 200 && status < 300
}

export function createResponseError(response: ClientResponse, text: string): Error {
  return parseServiceError(response.status, text, response.headers['x-request-id'] as string | undefined)
}
