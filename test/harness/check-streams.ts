/** Checks the events of streams against the OpenAPI document while the server writes them. */
import type { FastifyInstance } from 'fastify'
import { MCP_PATH } from '../../src/contract/mcp-path.ts'
import { EventDecoder } from '../../src/sse.ts'
import { checkEvent } from './check-response.ts'

/** Enough for every kind of event. Tests of long streams measure CPU time. */
const MAX_CHECKED_EVENTS = 50
/** The start of an event; JSON is also written in pieces. */
const EVENT = /^(id|event|data): /

/** Returns the errors of events that do not match the document. Throwing them in the server would end the stream. */
export function checkStreams(server: FastifyInstance): Error[] {
  const errors: Error[] = []
  server.addHook('onRequest', (request, { raw }, done) => {
    if (request.url.startsWith(MCP_PATH)) return done() // not part of the document
    const write = raw.write.bind(raw) as (chunk: unknown, ...others: unknown[]) => boolean
    const decoder = new EventDecoder()
    let checked = 0
    raw.write = ((chunk: unknown, ...others: unknown[]) => {
      if (typeof chunk === 'string' && EVENT.test(chunk) && checked++ < MAX_CHECKED_EVENTS)
        try {
          for (const event of decoder.push(chunk)) checkEvent(request.method, request.url, event)
        } catch (error) {
          errors.push(error as Error)
        }
      return write(chunk, ...others)
    }) as typeof raw.write
    done()
  })
  return errors
}
