/** From a validated request through its handler to the envelope. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { DEFAULT_LIMIT } from '../../src/contract/page.ts'
import type { Route, StreamEvent } from '../../src/contract/route.ts'
import type { Caller, Change } from '../core/caller.ts'
import { Later } from '../core/deferred-reply.ts'
import { etagOf } from '../core/etag.ts'
import type { Page } from '../store/records.ts'
import type { Binding, Incoming } from './binding.ts'
import type { Idempotency } from './idempotency.ts'
import { type OpenStreams, sendEvents } from './stream.ts'

/** Routes without a token have no caller, and no handler of theirs asks for one. */
const NOBODY: Caller = { tokenId: '', role: 'viewer', userId: null }

export async function answer(
  idempotency: Idempotency,
  streams: OpenStreams,
  binding: Binding,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = binding
  const change: Change = { caller: request.caller ?? NOBODY, ifMatch: request.headers['if-match'] }
  const result = await once(idempotency, binding, request, reply, change)
  const made = result instanceof Later ? await result.made() : result
  if (isStream(made)) return sendEvents(reply, made, streams)
  reply.status(binding.statusOf?.(made) ?? route.status).type('application/json; charset=utf-8')
  if (route.shape === 'data' && made !== null && typeof made === 'object') {
    const data = JSON.stringify(made) // written once, for the tag and the body
    reply.header('etag', etagOf(data))
    return `{"success":true,"data":${data}}`
  }
  return enveloped(route, made, request.query as { page?: number; limit?: number })
}

async function once(
  idempotency: Idempotency,
  binding: Binding,
  request: FastifyRequest,
  reply: FastifyReply,
  change: Change,
): Promise<unknown> {
  const key = request.headers['idempotency-key']
  if (key === undefined || binding.route.method !== 'POST') return binding.handle(new Arrived(request, reply, change))
  if (Array.isArray(key)) throw new CadreError('VALIDATION_ERROR', 'Send one Idempotency-Key.')
  const attempt = await idempotency.begin(change.caller, binding.route, key, {
    url: request.url.replace(/^\/api\/v1\//, '/api/'),
    body: request.body,
  })
  try {
    if (attempt.replayed) {
      reply.header('idempotent-replayed', 'true')
      const { reply: remembered } = attempt.replayed
      return binding.replay ? await binding.replay(new Arrived(request, reply, change), remembered) : remembered
    }
    const result = await binding.handle(new Arrived(request, reply, { ...change, remember: attempt.remember }))
    await attempt.finish(result)
    return result
  } finally {
    attempt.end()
  }
}

class Arrived implements Incoming<Route> {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly change: Change
  readonly lastEventId: string | undefined
  readonly #reply: FastifyReply
  #signal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, change: Change) {
    this.params = request.params as never
    this.query = request.query as never
    this.body = request.body as never
    this.change = change
    this.lastEventId = request.headers['last-event-id'] as string | undefined
    this.#reply = reply
  }

  /** Few ask for it. */
  get signal(): AbortSignal {
    this.#signal ??= departure(this.#reply)
    return this.#signal
  }
}

/** Fastify's own signal aborts as soon as the body of a POST is read. */
function departure({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const left = () => new CadreError('UNAVAILABLE', 'The caller went away.')
  if (raw.destroyed) controller.abort(left())
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(left())
  })
  return controller.signal
}

const isStream = (made: unknown): made is AsyncIterable<StreamEvent> =>
  made !== null && typeof made === 'object' && Symbol.asyncIterator in made

function enveloped(route: Route, result: unknown, query: { page?: number; limit?: number }): unknown {
  if (route.shape === 'bare') return result
  if (route.shape === 'message') return { success: true, message: result }
  if (route.shape !== 'page') return { success: true, data: result }
  const { items, total } = result as Page<unknown>
  const { page = 1, limit = DEFAULT_LIMIT } = query
  return { success: true, data: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
}
