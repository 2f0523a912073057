/** Passes a validated request to its handler and wraps the result in the envelope. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { checksVersion, type Route, type StreamEvent, TEXT_TYPE } from '../../src/contract/route.ts'
import { DEFAULT_LIMIT } from '../../src/contract/schemas/list-query.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { DeferredResponse } from '../core/deferred-response.ts'
import { matchesEtag, serializeWithEtag } from '../core/etag.ts'
import type { Page } from '../store/records.ts'
import type { Validator } from '../validation/validator.ts'
import type { Binding, HandlerRequest } from './binding.ts'
import { getEventFormat } from './event-format.ts'
import { type OpenStreams, sendEvents } from './event-stream.ts'
import type { Idempotency } from './idempotency.ts'

/** The caller of public routes, whose handlers do not use it. */
const ANONYMOUS: Caller = { tokenId: '', role: 'viewer', userId: null }

interface RequestDependencies {
  idempotency: Idempotency
  validator: Validator
}

export async function handleRequest(
  dependencies: RequestDependencies,
  streams: OpenStreams,
  binding: Binding,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = binding
  const ifMatch = checksVersion(route) ? request.headers['if-match'] : undefined
  const change: ChangeContext = { caller: request.caller ?? ANONYMOUS, ifMatch }
  const result = await handleOnce(dependencies, binding, request, reply, change)
  const value = result instanceof DeferredResponse ? await result.wait() : result
  if (isEventStream(value)) return sendEvents(reply, value, streams, getEventFormat(route))
  if (route.shape === 'data' && value !== null && typeof value === 'object') return sendResource(route, value, request, reply)
  reply.status(binding.getStatus?.(value) ?? route.status).type(route.shape === 'text' ? TEXT_TYPE : 'application/json; charset=utf-8')
  return wrapInEnvelope(route, value, request.query as { page?: number; limit?: number })
}

/** Sends one resource with its ETag, or 304 without a body if the client has this version. */
function sendResource(route: Route, value: object, request: FastifyRequest, reply: FastifyReply): string | FastifyReply {
  const { json, etag } = serializeWithEtag(value, route.revealsSecret)
  reply.header('etag', etag)
  const ifNoneMatch = request.headers['if-none-match']
  if (route.method === 'GET' && ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return reply.status(304).send()
  if (route.status === 201) reply.header('location', formatLocation(request.originalUrl, route, value as { id: string }))
  reply.status(route.status).type('application/json; charset=utf-8')
  return `{"success":true,"data":${json}}`
}

/** The path of a created resource, with the version prefix of the request. */
function formatLocation(url: string, { createdPath }: Route, { id }: { id: string }): string {
  const [path = ''] = url.split('?')
  const [, prefix = ''] = /^(\/api(?:\/v1)?)\//.exec(path) ?? []
  return `${createdPath === undefined ? path.replace(/\/$/, '') : prefix + createdPath}/${encodeURIComponent(id)}`
}

async function handleOnce(
  { idempotency, validator }: RequestDependencies,
  binding: Binding,
  request: FastifyRequest,
  reply: FastifyReply,
  change: ChangeContext,
): Promise<unknown> {
  const key = request.headers['idempotency-key']
  const createRequest = (context: ChangeContext) => createHandlerRequest(request, reply, context, validator, binding)
  // OpenAI's API has no such header: what some of its clients send is ignored.
  const isIgnored = binding.route.protocol === 'openai' || binding.route.method !== 'POST'
  if (key === undefined || isIgnored) return binding.handle(createRequest(change))
  if (Array.isArray(key)) throw new CadreError('VALIDATION_ERROR', 'Send only one Idempotency-Key header.')
  const attempt = await idempotency.begin(change.caller, binding.route, key, {
    url: request.url,
    body: request.body,
  })
  try {
    const handlerRequest = createRequest({ ...change, storeResponse: attempt.remember })
    if (attempt.previous) {
      const replayed = await binding.replay?.(handlerRequest, attempt.previous.response)
      if (replayed?.isReplayed !== false) reply.header('idempotent-replayed', 'true')
      return replayed ? replayed.response : attempt.previous.response
    }
    const result = await binding.handle(handlerRequest)
    await attempt.finish(result)
    return result
  } finally {
    attempt.release()
  }
}

function createHandlerRequest(
  { params, query, body, headers }: FastifyRequest,
  reply: FastifyReply,
  change: ChangeContext,
  validator: Validator,
  { checkedSchema }: Binding,
): HandlerRequest<Route> {
  let signal: AbortSignal | undefined
  return {
    params: params as never,
    query: query as never,
    body: body as never,
    change,
    lastEventId: headers['last-event-id'] as string | undefined,
    conversationId: headers['cadre-conversation'] as string | undefined,
    checkBody: (value) => checkedSchema && validator.forBody(checkedSchema)(value),
    /** Created on first use: few handlers need it. */
    get signal() {
      signal ??= createCloseSignal(reply)
      return signal
    },
  }
}

/** Aborts when the client disconnects. Fastify's own signal already aborts when the body of a POST was read. */
export function createCloseSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const abort = () => controller.abort(new CadreError('UNAVAILABLE', 'The client disconnected.'))
  if (raw.destroyed) abort()
  raw.once('close', () => {
    if (!raw.writableFinished) abort()
  })
  return controller.signal
}

const isEventStream = (value: unknown): value is AsyncIterable<StreamEvent> =>
  value !== null && typeof value === 'object' && Symbol.asyncIterator in value

function wrapInEnvelope(route: Route, result: unknown, query: { page?: number; limit?: number }): unknown {
  if (route.shape === 'bare' || route.shape === 'text') return result
  if (route.shape === 'message') return { success: true, message: result }
  if (route.shape !== 'page') return { success: true, data: result }
  const { items, total } = result as Page<unknown>
  const { page = 1, limit = DEFAULT_LIMIT } = query
  return { success: true, data: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
}
