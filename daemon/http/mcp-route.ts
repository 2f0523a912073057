/** The route of the MCP server, whose requests and responses are defined by that protocol instead of the contract. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MCP_PATH } from '../../src/contract/mcp-path.ts'
import type { Caller } from '../core/caller.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { AuthorizationDependencies } from './authorize-request.ts'
import { type OpenStreams, sendEncodedEvents } from './event-stream.ts'
import { createCloseSignal } from './handle-request.ts'

export type HandleMcp = (request: McpRequest) => Promise<Response>

interface McpRouteDependencies extends Pick<AuthorizationDependencies, 'limiter' | 'getRateLimit'> {
  handleMcp: HandleMcp
}

/** Documents are read and questions asked, not sent. */
const BODY_LIMIT = 4 * 1024 * 1024

/** Every role may connect; each tool checks the role. GET and DELETE belong to sessions, which the server answers with 405. */
export function registerMcpRoute(server: FastifyInstance, dependencies: McpRouteDependencies, streams: OpenStreams): void {
  server.route({
    method: ['GET', 'POST', 'DELETE'],
    url: MCP_PATH,
    bodyLimit: BODY_LIMIT,
    handler: async (request, reply) => {
      const { method, url, body } = request
      const caller = request.caller as Caller
      limitBatch(dependencies, caller, body, reply)
      // The client may have left while its token was checked: there is no close event then.
      const closed = new Promise<void>((resolve) => (reply.raw.destroyed ? resolve() : reply.raw.once('close', resolve)))
      const signal = createCloseSignal(reply)
      const response = await dependencies.handleMcp({ method, url, headers: copyHeaders(request), body, caller, signal, closed })
      return sendResponse(reply, response, streams)
    },
  })
}

/** Each message of a batch counts as a request. The first one was counted before the body was read. */
function limitBatch({ limiter, getRateLimit }: McpRouteDependencies, { tokenId }: Caller, body: unknown, reply: FastifyReply): void {
  if (!Array.isArray(body)) return
  for (const _ of body.slice(1)) {
    const { headers, error } = limiter.consume(tokenId, getRateLimit(tokenId))
    reply.headers(headers)
    if (error) throw error
  }
}

/** Without the token, which the server does not need. */
function copyHeaders({ headers }: FastifyRequest): Headers {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (name !== 'authorization' && value !== undefined) copied.set(name, [value].flat().join(', '))
  return copied
}

async function sendResponse(reply: FastifyReply, response: Response, streams: OpenStreams): Promise<FastifyReply> {
  reply.status(response.status)
  for (const [name, value] of response.headers) if (name !== 'cache-control') reply.header(name, value)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream && response.body) return sendEncodedEvents(reply, response.body.pipeThrough(new TextDecoderStream()), streams)
  return reply.send(await response.text())
}
