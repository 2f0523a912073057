/** Event streams: written as fast as the reader reads, kept open by a comment, and ended when the reader goes or stops reading. */
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { StreamEvent } from '../../src/contract/route.ts'
import { encodeComment, encodeEvent } from '../../src/sse.ts'
import { asCadreError } from './errors.ts'
import { Unread } from './unread.ts'

/** How long nothing is written before a comment is. */
const HEARTBEAT_MS = 10_000
/** How long what is written may lie about unread before the reader counts as gone. */
const STALLED_MS = 20_000
const LOOK_MS = 2_500
/** What may be on its way to a reader before we look whether it reads. */
const MOST_OPEN = 64 * 1024

/** The longest a stop waits for streams to say how they ended. */
const LAST_WORDS_MS = 2_000

/** Streams that are open now: whoever makes their events ends them, and a stop lets them get there. */
export class OpenStreams {
  readonly #unread = new Unread()
  readonly #wires = new Set<Wire>()
  #watch: NodeJS.Timeout | undefined

  /** All are looked after in one go, so that the kernel is asked once for all of them. */
  open(raw: ServerResponse): Wire {
    const wire = new Wire(raw, this.#unread)
    this.#wires.add(wire)
    this.#watch ??= setInterval(() => {
      for (const each of this.#wires) void each.look()
    }, LOOK_MS)
    void wire.closed.then(() => this.#close(wire))
    return wire
  }

  async ended(): Promise<void> {
    const enough = new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())
    await Promise.race([Promise.all([...this.#wires].map(({ closed }) => closed)), enough])
  }

  #close(wire: Wire): void {
    this.#wires.delete(wire)
    if (this.#wires.size > 0) return
    clearInterval(this.#watch)
    this.#watch = undefined
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
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  })
  // The first event goes out together with the headers if it is there; if not, they do not wait for it.
  setImmediate(() => raw.flushHeaders())
  const wire = streams.open(raw)
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
    for (let next = await source.next(); !next.done && wire.usable; next = await source.next()) {
      const room = send(next.value)
      if (room) await room
    }
  } catch (error) {
    const { message, code } = asCadreError(error)
    await send({ event: 'error', data: { error: message, code } })
  }
}

/** One connection, watched: how long nothing was written to it, and how long its reader took nothing of what was. */
class Wire {
  readonly closed: Promise<void>
  readonly #raw: ServerResponse
  readonly #unread: Unread
  #sent = 0
  /** How much of it the reader took, when we last looked. */
  #taken = 0
  #tookAt = Date.now()
  #wroteAt = Date.now()

  constructor(raw: ServerResponse, unread: Unread) {
    this.#raw = raw
    this.#unread = unread
    this.closed = new Promise((resolve) => raw.once('close', resolve))
  }

  get usable(): boolean {
    return !this.#raw.destroyed && !this.#raw.writableEnded
  }

  /** Undefined when there is room for more, else what to wait for. */
  write(text: string): Promise<void> | undefined {
    if (!this.usable) return undefined
    this.#wroteAt = Date.now()
    if (this.#open === 0) this.#tookAt = this.#wroteAt
    this.#sent += text.length
    const room = this.#raw.write(text)
    return room && this.#open < MOST_OPEN ? undefined : this.#room(room)
  }

  end(): void {
    if (this.usable) this.#raw.end()
  }

  async look(): Promise<void> {
    if (this.#open > 0) await this.#measure()
    const now = Date.now()
    if (this.#open > 0 && now - this.#tookAt >= STALLED_MS) this.#raw.destroy()
    else if (now - this.#wroteAt >= HEARTBEAT_MS - LOOK_MS / 2) void this.write(encodeComment('still here'))
  }

  get #open(): number {
    return this.#sent - this.#taken
  }

  /** The connection takes more, and the reader keeps up with it: the kernel alone would hold megabytes for one that does not. */
  async #room(room: boolean): Promise<void> {
    if (!room) await this.#drained()
    for (let waitMs = 2; this.usable && this.#open >= MOST_OPEN; waitMs = Math.min(2 * waitMs, LOOK_MS)) {
      await this.#measure()
      if (this.#open >= MOST_OPEN) await pause(waitMs, undefined, { ref: false })
    }
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

  /** What is on its way lies in our own buffer, and in the kernel's where that can be known. */
  async #measure(): Promise<void> {
    const { socket } = this.#raw
    if (!socket) return
    const sent = this.#sent
    const taken = sent - socket.writableLength - ((await this.#unread.of(socket)) ?? 0)
    if (taken > this.#taken || taken === sent) this.#tookAt = Date.now()
    this.#taken = Math.max(this.#taken, taken)
  }
}
