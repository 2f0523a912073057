/** Event streams: written as fast as the reader reads, kept open by a comment, and ended when the reader goes or stops reading. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { StreamEvent } from '../../src/contract/route.ts'
import { encodeComment, encodeEvent } from '../../src/sse.ts'
import { asCadreError } from './errors.ts'

/** How long nothing is written before a comment is. */
const HEARTBEAT_MS = 10_000
/** How long what is written may lie about unread before the reader counts as gone. */
const STALLED_MS = 20_000
const LOOK_MS = 2_500

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
  const source = events[Symbol.asyncIterator]()
  const { raw } = reply
  reply.hijack()
  if (raw.destroyed) {
    void source.return?.()
    return reply
  }
  streams.add(reply)
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
  // The first event goes out together with the headers if it is there; if not, they do not wait for it.
  setImmediate(() => raw.flushHeaders())
  const wire = new Wire(raw)
  // The reader may go at any time, also while the next event is waited for: then whoever makes events is told at once.
  raw.once('close', () => void source.return?.())
  void pump(source, wire).finally(() => wire.end())
  return reply
}

async function pump(source: AsyncIterator<StreamEvent>, wire: Wire): Promise<void> {
  let last = 0
  const send = ({ event, data, id = String(last + 1) }: StreamEvent) => {
    last = Number(id)
    return wire.write(encodeEvent({ event, data: JSON.stringify(data), id }))
  }
  try {
    for (let next = await source.next(); !next.done && wire.open; next = await source.next()) {
      const room = send(next.value)
      if (room) await room
    }
  } catch (error) {
    const { message, code } = asCadreError(error)
    await send({ event: 'error', data: { error: message, code } })
  }
}

/** One connection, watched: how long nothing was written to it, and how long nothing was taken from it. */
class Wire {
  readonly #raw: ServerResponse
  readonly #watch: NodeJS.Timeout
  #untaken = 0
  #wroteAt = Date.now()
  #tookAt = Date.now()

  constructor(raw: ServerResponse) {
    this.#raw = raw
    this.#watch = setInterval(() => this.#look(Date.now()), LOOK_MS)
    raw.once('close', () => clearInterval(this.#watch))
  }

  get open(): boolean {
    return !this.#raw.destroyed
  }

  /** Undefined when there is room for more, else what to wait for. */
  write(text: string): Promise<void> | undefined {
    if (!this.open) return undefined
    this.#wroteAt = Date.now()
    if (this.#untaken++ === 0) this.#tookAt = this.#wroteAt
    const room = this.#raw.write(text, () => {
      this.#untaken--
      this.#tookAt = Date.now()
    })
    return room ? undefined : this.#drained()
  }

  end(): void {
    clearInterval(this.#watch)
    if (this.open) this.#raw.end()
  }

  async #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#raw.off('drain', done).off('close', done)
        resolve()
      }
      this.#raw.on('drain', done).on('close', done)
    })
  }

  #look(now: number): void {
    if (this.#untaken > 0 && now - this.#tookAt >= STALLED_MS) this.#raw.destroy()
    else if (now - this.#wroteAt >= HEARTBEAT_MS - LOOK_MS / 2) void this.write(encodeComment('still here'))
  }
}
