/** From a validated request through its handler to the envelope. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { DEFAULT_LIMIT } from '../../src/contract/page.ts'
import type { Route, StreamEvent } from '../../src/contract/route.ts'
import type { Caller, Change } from '../caller.ts'
import { etagOf } from '../etag.ts'
import type { Page } from '../store/records.ts'
import type { Binding } from './binding.ts'
import type { Idempotency } from './idempotency.ts'
import { type OpenStreams, sendEvents } from './stream.ts'

/** Routes without a token have no caller, and no handler of theirs asks for one. */
const NOBODY: Caller = { tokenId: '', role: 'viewer', userId: null }

export async function answer(idempotency: Idempotency, streams: OpenStreams, binding: Binding, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { route } = binding
  const change: Change = { caller: request.caller ?? NOBODY, ifMatch: request.headers['if-match'] }
  const result = await once(idempotency, binding, request, reply, change)
  if (route.shape === 'events') return sendEvents(reply, result as AsyncIterable<StreamEvent>, streams)
  reply.status(binding.statusOf?.(result) ?? route.status).type('application/json; charset=utf-8')
  if (route.shape === 'data' && result !== null && typeof result === 'object') {
    const data = JSON.stringify(result) // written once, for the tag and the body
    reply.header('etag', etagOf(data))
    return `{"success":true,"data":${data}}`
  }
  return enveloped(route, result, request.query as { page?: number; limit?: number })
}

async function once(idempotency: Idempotency, binding: Binding, request: FastifyRequest, reply: FastifyReply, change: Change): Promise<unknown> {
  const incoming = { params: request.params, query: request.query, body: request.body, change }
  const key = request.headers['idempotency-key']
  if (key === undefined || binding.route.method !== 'POST') return binding.handle(incoming as never)
  if (Array.isArray(key)) throw new CadreError('VALIDATION_ERROR', 'Send one Idempotency-Key.')
  const attempt = await idempotency.begin(change.caller, binding.route, key, { url: request.url.replace(/^\/api\/v1\//, '/api/'), body: request.body })
  try {
    if (attempt.replayed) {
      reply.header('idempotent-replayed', 'true')
      return attempt.replayed.reply
    }
    const result = await binding.handle({ ...incoming, change: { ...change, remember: attempt.remember } } as never)
    await attempt.finish(result)
    return result
  } finally {
    attempt.end()
  }
}

function enveloped(route: Route, result: unknown, query: { page?: number; limit?: number }): unknown {
  if (route.shape === 'bare') return result
  if (route.shape === 'message') return { success: true, message: result }
  if (route.shape !== 'page') return { success: true, data: result }
  const { items, total } = result as Page<unknown>
  const { page = 1, limit = DEFAULT_LIMIT } = query
  return { success: true, data: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
}
