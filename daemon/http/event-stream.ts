/** Server-sent event streams with backpressure, heartbeats and detection of stalled clients. */
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import { scaleTimeout } from '../../src/deadline.ts'
import { encodeComment } from '../../src/sse.ts'
import { toCadreError } from './errors.ts'
import { type EventFormat, getEventFormat } from './event-format.ts'
import { SocketQueues } from './socket-queues.ts'

/** Idle time before a comment is sent. */
const HEARTBEAT_MS = 10_000
/** Time without reading after which a client is disconnected. */
const STALL_TIMEOUT_MS = 20_000
const CHECK_INTERVAL_MS = 2_500
/** Time between two checks of the tokens of open streams. */
const TOKEN_CHECK_INTERVAL_MS = 1_000
/** Time for the last event of a stream whose token was revoked. */
const REVOKED_CLOSE_MS = 500
/** Maximum bytes in buffers before writing waits for the client. */
const MAX_UNREAD_BYTES = 64 * 1024

/** Maximum time to wait for open streams when the server closes. */
const CLOSE_TIMEOUT_MS = 2_000

/** Whether the token of a request is still valid. */
type IsTokenValid = (request: FastifyRequest) => Promise<boolean>

/** The open streams of the server. */
export class OpenStreams {
  readonly #isTokenValid: IsTokenValid
  readonly #queues = new SocketQueues()
  readonly #connections = new Set<StreamConnection>()
  #timers: NodeJS.Timeout[] = []

  constructor(isTokenValid: IsTokenValid) {
    this.#isTokenValid = isTokenValid
  }

  /** One timer checks all connections, so that the kernel's tables are read once for all. */
  open({ raw, request }: FastifyReply, format: EventFormat): StreamConnection {
    const connection = new StreamConnection(raw, this.#queues, format, () => this.#isTokenValid(request))
    this.#connections.add(connection)
    if (this.#timers.length === 0)
      this.#timers = [
        setInterval(() => this.#forEach((each) => each.check()), CHECK_INTERVAL_MS),
        setInterval(() => this.#forEach((each) => each.checkToken()), TOKEN_CHECK_INTERVAL_MS),
      ]
    void connection.closed.then(() => this.#close(connection))
    return connection
  }

  async waitUntilClosed(): Promise<void> {
    const enough = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref())
    await Promise.race([Promise.all([...this.#connections].map(({ closed }) => closed)), enough])
  }

  #close(connection: StreamConnection): void {
    this.#connections.delete(connection)
    if (this.#connections.size > 0) return
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }

  #forEach(check: (connection: StreamConnection) => Promise<void>): void {
    for (const connection of this.#connections) void check(connection)
  }
}

export function sendEvents(
  reply: FastifyReply,
  events: AsyncIterable<StreamEvent>,
  streams: OpenStreams,
  format: EventFormat,
): FastifyReply {
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
  // Sends the headers together with the first event if it is available immediately.
  setImmediate(() => raw.flushHeaders())
  const connection = streams.open(reply, format)
  // The client can disconnect while the source waits for its next event.
  raw.once('close', () => void source.return?.())
  void sendAll(source, connection, format).finally(() => connection.end())
  return reply
}

/** Sends an event stream that another library has encoded. Each part is a whole number of events. */
export async function sendEncodedEvents(reply: FastifyReply, parts: AsyncIterable<string>, streams: OpenStreams): Promise<FastifyReply> {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(reply.statusCode, { ...(reply.getHeaders() as Record<string, string>), 'x-accel-buffering': 'no' })
  raw.flushHeaders()
  const connection = streams.open(reply, getEventFormat({}))
  try {
    for await (const part of parts) {
      if (!connection.isWritable) break
      await connection.write(part)
    }
  } finally {
    connection.end()
  }
  return reply
}

async function sendAll(source: AsyncIterator<StreamEvent>, connection: StreamConnection, format: EventFormat): Promise<void> {
  let last = 0
  const send = ({ event, data, id = String(last + 1) }: StreamEvent) => {
    last = Number(id)
    return connection.write(format.encode({ event, data, id }))
  }
  try {
    for (let next = await source.next(); !next.done && connection.isWritable; next = await source.next()) {
      const room = send(next.value)
      if (room) await room
    }
  } catch (error) {
    await send(format.createError(toCadreError(error)))
  }
}

/** A connection with the times of the last write and the last read of the client. */
class StreamConnection {
  readonly closed: Promise<void>
  readonly #raw: ServerResponse
  readonly #queues: SocketQueues
  readonly #format: EventFormat
  readonly #isTokenValid: () => Promise<boolean>
  #sentBytes = 0
  /** Bytes read by the client at the last check. */
  #takenBytes = 0
  /** Successive checks in which the client had read nothing. Counts the time in which this process runs, unlike a clock. */
  #stalledChecks = 0
  #lastWriteAt = performance.now()

  constructor(raw: ServerResponse, queues: SocketQueues, format: EventFormat, isTokenValid: () => Promise<boolean>) {
    this.#raw = raw
    this.#queues = queues
    this.#format = format
    this.#isTokenValid = isTokenValid
    this.closed = new Promise((resolve) => raw.once('close', resolve))
  }

  get isWritable(): boolean {
    return !this.#raw.destroyed && !this.#raw.writableEnded
  }

  /** Returns undefined if more can be written immediately, otherwise a promise to wait for. */
  write(text: string): Promise<void> | undefined {
    if (!this.isWritable) return undefined
    this.#lastWriteAt = performance.now()
    if (this.#unreadBytes === 0) this.#stalledChecks = 0
    this.#sentBytes += text.length
    const hasRoom = this.#raw.write(text)
    return hasRoom && this.#unreadBytes < MAX_UNREAD_BYTES ? undefined : this.#waitForRoom(hasRoom)
  }

  end(): void {
    if (this.isWritable) this.#raw.end()
  }

  async check(): Promise<void> {
    this.#stalledChecks++
    if (this.#unreadBytes > 0) await this.#measureTaken()
    if (this.#unreadBytes > 0 && this.#stalledChecks * CHECK_INTERVAL_MS >= scaleTimeout(STALL_TIMEOUT_MS)) this.#raw.destroy()
    else if (performance.now() - this.#lastWriteAt >= HEARTBEAT_MS - CHECK_INTERVAL_MS / 2) void this.write(encodeComment('still here'))
  }

  /** Ends the stream of a token that was deleted or has expired. */
  async checkToken(): Promise<void> {
    // If the database cannot be read, nothing can be said about the token.
    if (!this.isWritable || (await this.#isTokenValid().catch(() => true))) return
    const error = this.#format.createError(new CadreError('UNAUTHENTICATED', 'The token is no longer valid.'))
    void this.write(this.#format.encode(error))
    this.end()
    // A client that does not read would keep the connection open.
    setTimeout(() => this.#raw.destroy(), REVOKED_CLOSE_MS).unref()
  }

  get #unreadBytes(): number {
    return this.#sentBytes - this.#takenBytes
  }

  /** Waits until the client has read enough. Node.js only waits for the kernel, which buffers megabytes. */
  async #waitForRoom(hasRoom: boolean): Promise<void> {
    if (!hasRoom) await this.#waitForDrain()
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

  /** Subtracts the bytes in the buffers of Node.js and, if known, of the kernel. */
  async #measureTaken(): Promise<void> {
    const { socket } = this.#raw
    if (!socket) return
    const sent = this.#sentBytes
    const taken = sent - socket.writableLength - ((await this.#queues.getUnreadBytes(socket)) ?? 0)
    if (taken > this.#takenBytes || taken === sent) this.#stalledChecks = 0
    this.#takenBytes = Math.max(this.#takenBytes, taken)
  }
}
