/** Event streams: written as fast as the reader reads, kept open by a comment, and ended when the reader goes or stops reading. */
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { StreamEvent } from '../../src/contract/route.ts'
import { encodeComment, encodeEvent } from '../../src/sse.ts'
import { toCadreError } from './errors.ts'
import { SocketQueues } from './socket-queues.ts'

/** How long nothing is written before a comment is. */
const HEARTBEAT_MS = 10_000
/** How long what is written may lie about unread before the reader counts as gone. */
const STALL_TIMEOUT_MS = 20_000
const CHECK_INTERVAL_MS = 2_500
/** What may be on its way to a reader before we look whether it reads. */
const MAX_UNREAD_BYTES = 64 * 1024

/** The longest a stop waits for streams to say how they ended. */
const CLOSE_TIMEOUT_MS = 2_000

/** Streams that are open now: whoever makes their events ends them, and a stop lets them get there. */
export class OpenStreams {
  readonly #queues = new SocketQueues()
  readonly #connections = new Set<StreamConnection>()
  #timer: NodeJS.Timeout | undefined

  /** All are looked after in one go, so that the kernel is asked once for all of them. */
  open(raw: ServerResponse): StreamConnection {
    const wire = new StreamConnection(raw, this.#queues)
    this.#connections.add(wire)
    this.#timer ??= setInterval(() => {
      for (const each of this.#connections) void each.check()
    }, CHECK_INTERVAL_MS)
    void wire.closed.then(() => this.#close(wire))
    return wire
  }

  async waitUntilClosed(): Promise<void> {
    const enough = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref())
    await Promise.race([Promise.all([...this.#connections].map(({ closed }) => closed)), enough])
  }

  #close(wire: StreamConnection): void {
    this.#connections.delete(wire)
    if (this.#connections.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
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
  void sendAll(source, wire).finally(() => wire.end())
  return reply
}

async function sendAll(source: AsyncIterator<StreamEvent>, wire: StreamConnection): Promise<void> {
  let last = 0
  const send = ({ event, data, id = String(last + 1) }: StreamEvent) => {
    last = Number(id)
    return wire.write(encodeEvent({ event, data: JSON.stringify(data), id }))
  }
  try {
    for (let next = await source.next(); !next.done && wire.isWritable; next = await source.next()) {
      const room = send(next.value)
      if (room) await room
    }
  } catch (error) {
    const { message, code } = toCadreError(error)
    await send({ event: 'error', data: { error: message, code } })
  }
}

/** One connection, watched: how long nothing was written to it, and how long its reader took nothing of what was. */
class StreamConnection {
  readonly closed: Promise<void>
  readonly #raw: ServerResponse
  readonly #queues: SocketQueues
  #sentBytes = 0
  /** How much of it the reader took, when we last looked. */
  #takenBytes = 0
  #lastReadAt = Date.now()
  #lastWriteAt = Date.now()

  constructor(raw: ServerResponse, unread: SocketQueues) {
    this.#raw = raw
    this.#queues = unread
    this.closed = new Promise((resolve) => raw.once('close', resolve))
  }

  get isWritable(): boolean {
    return !this.#raw.destroyed && !this.#raw.writableEnded
  }

  /** Undefined when there is room for more, else what to wait for. */
  write(text: string): Promise<void> | undefined {
    if (!this.isWritable) return undefined
    this.#lastWriteAt = Date.now()
    if (this.#unreadBytes === 0) this.#lastReadAt = this.#lastWriteAt
    this.#sentBytes += text.length
    const waitForCapacity = this.#raw.write(text)
    return waitForCapacity && this.#unreadBytes < MAX_UNREAD_BYTES ? undefined : this.#room(waitForCapacity)
  }

  end(): void {
    if (this.isWritable) this.#raw.end()
  }

  async check(): Promise<void> {
    if (this.#unreadBytes > 0) await this.#measureTaken()
    const now = Date.now()
    if (this.#unreadBytes > 0 && now - this.#lastReadAt >= STALL_TIMEOUT_MS) this.#raw.destroy()
    else if (now - this.#lastWriteAt >= HEARTBEAT_MS - CHECK_INTERVAL_MS / 2) void this.write(encodeComment('still here'))
  }

  get #unreadBytes(): number {
    return this.#sentBytes - this.#takenBytes
  }

  /** The connection takes more, and the reader keeps up with it: the kernel alone would hold megabytes for one that does not. */
  async #room(room: boolean): Promise<void> {
    if (!room) await this.#waitForDrain()
    for (let waitMs = 2; this.isWritable && this.#unreadBytes >= MAX_UNREAD_BYTES; waitMs = Math.min(2 * waitMs, CHECK_INTERVAL_MS)) {
      await this.#measureTaken()
      if (this.#unreadBytes >= MAX_UNREAD_BYTES) await pause(waitMs, undefined, { ref: false })
    }
  }

  async #waitForDrain(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#raw.off('drain', done).off('close', done)
        resolve()
      }
      this.#raw.on('drain', done).on('close', done)
    })
  }

  /** What is on its way lies in our own buffer, and in the kernel's where that can be known. */
  async #measureTaken(): Promise<void> {
    const { socket } = this.#raw
    if (!socket) return
    const sent = this.#sentBytes
    const taken = sent - socket.writableLength - ((await this.#queues.getUnreadBytes(socket)) ?? 0)
    if (taken > this.#takenBytes || taken === sent) this.#lastReadAt = Date.now()
    this.#takenBytes = Math.max(this.#takenBytes, taken)
  }
}
