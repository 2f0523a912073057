/** Event streams: written as fast as the reader reads, kept open by a comment, and ended when the reader goes. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { StreamEvent } from '../../src/contract/route.ts'
import { encodeComment, encodeEvent } from '../../src/sse.ts'
import { asCadreError } from './errors.ts'

const HEARTBEAT_MS = 10_000

/** The longest a stop waits for streams to say how they ended. */
const LAST_WORDS_MS = 2_000

/** Streams that are open now: whoever makes their events ends them, and a stop lets them get there. */
export class OpenStreams {
  readonly #ends = new Set<Promise<void>>()

  add(reply: FastifyReply): void {
    const end = new Promise<void>((resolve) => reply.raw.once('close', resolve))
    this.#ends.add(end)
    void end.then(() => this.#ends.delete(end))
  }

  async ended(): Promise<void> {
    const enough = new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())
    await Promise.race([Promise.all(this.#ends), enough])
  }
}

export function sendEvents(reply: FastifyReply, events: AsyncIterable<StreamEvent>, streams: OpenStreams): FastifyReply {
  streams.add(reply)
  const stream = Readable.from(encoded(events), { objectMode: false, highWaterMark: 64 * 1024 })
  // The reader may go at any time, also while the next event is waited for: then whoever makes events is told to stop.
  reply.raw.on('close', () => stream.destroy())
  return reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(stream)
}

async function* encoded(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  const source = events[Symbol.asyncIterator]()
  let count = 0
  try {
    let next = source.next()
    for (;;) {
      const arrived = await orHeartbeat(next)
      if (arrived === 'heartbeat') {
        yield encodeComment('still here')
        continue
      }
      if (arrived.done) return
      const { event, data, id } = arrived.value
      yield encodeEvent({ event, data: JSON.stringify(data), id: id ?? String(++count) })
      next = source.next()
    }
  } catch (error) {
    const { message, code } = asCadreError(error)
    yield encodeEvent({ event: 'error', data: JSON.stringify({ error: message, code }), id: String(++count) })
  } finally {
    await source.return?.()
  }
}

async function orHeartbeat<T>(next: Promise<T>): Promise<T | 'heartbeat'> {
  let timer: NodeJS.Timeout | undefined
  const heartbeat = new Promise<'heartbeat'>((resolve) => {
    timer = setTimeout(resolve, HEARTBEAT_MS, 'heartbeat')
  })
  return Promise.race([next, heartbeat]).finally(() => clearTimeout(timer))
}
