/** Sends large responses in pieces, disconnects clients that stop reading them, and limits the bytes that wait to be read. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { scaleTimeout } from '../../src/deadline.ts'

const KILOBYTE = 1024
const MEGABYTE = 1024 * KILOBYTE
/** Smaller responses fit into the buffers of the kernel. */
const MIN_SIZE = 64 * KILOBYTE
const PIECE_SIZE = 64 * KILOBYTE
/** Time without reading after which a client is disconnected, as for streams. */
const STALL_TIMEOUT_MS = 20_000
const CHECK_INTERVAL_MS = 2_500
/** Bytes that may wait to be read before further large responses are refused. A single response may be larger. */
const MAX_UNREAD_PER_TOKEN = 64 * MEGABYTE
const MAX_UNREAD = 256 * MEGABYTE

interface UnreadResponse {
  owner: string
  unreadBytes: number
  /** Successive checks in which the client had read nothing. */
  stalledChecks: number
  disconnect(): void
}

export class LargeResponses {
  readonly #responses = new Set<UnreadResponse>()
  #timer: NodeJS.Timeout | undefined

  /** Throws if this token, or all together, have too many unread bytes. Call before a response is computed. */
  requireRoom(request: FastifyRequest, reply: FastifyReply): void {
    const owner = getOwner(request)
    let [own, all] = [0, 0]
    for (const response of this.#responses) {
      all += response.unreadBytes
      if (response.owner === owner) own += response.unreadBytes
    }
    if (own < MAX_UNREAD_PER_TOKEN && all < MAX_UNREAD) return
    reply.header('retry-after', STALL_TIMEOUT_MS / 1000)
    if (own < MAX_UNREAD_PER_TOKEN)
      throw new CadreError('UNAVAILABLE', 'Too many large responses have not been read yet.', { hint: 'Try again in a moment.' })
    throw new CadreError('RATE_LIMITED', 'Too many large responses of this token have not been read yet.', {
      hint: 'Read the responses of earlier requests first.',
    })
  }

  /** Returns the payload unchanged if it is small or not text, otherwise as a stream of pieces. */
  send(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    const { raw } = reply
    if (typeof payload !== 'string' || payload.length < MIN_SIZE || request.method === 'HEAD') return payload
    // The client has left: nothing is sent, and there is no close event to wait for.
    if (raw.destroyed) return payload
    // Other methods have made their change: a client told to try again would make it twice.
    if (request.method === 'GET') this.requireRoom(request, reply)
    const bytes = Buffer.from(payload)
    const response: UnreadResponse = {
      owner: getOwner(request),
      unreadBytes: bytes.length,
      stalledChecks: 0,
      disconnect: () => raw.destroy(),
    }
    this.#add(response)
    raw.once('close', () => this.#remove(response))
    reply.header('content-length', bytes.length)
    return Readable.from(readPieces(bytes, response), { objectMode: false, highWaterMark: PIECE_SIZE })
  }

  #add(response: UnreadResponse): void {
    this.#responses.add(response)
    this.#timer ??= setInterval(() => {
      for (const response of this.#responses)
        if (++response.stalledChecks * CHECK_INTERVAL_MS >= scaleTimeout(STALL_TIMEOUT_MS)) response.disconnect()
    }, CHECK_INTERVAL_MS)
  }

  #remove(response: UnreadResponse): void {
    this.#responses.delete(response)
    if (this.#responses.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** A piece is taken when the kernel has accepted the one before. */
function* readPieces(bytes: Buffer, response: UnreadResponse): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PIECE_SIZE) {
    response.stalledChecks = 0
    yield bytes.subarray(from, from + PIECE_SIZE)
    response.unreadBytes = Math.max(0, bytes.length - from - PIECE_SIZE)
  }
}

const getOwner = ({ caller, ip }: FastifyRequest): string => caller?.tokenId ?? `address ${ip}`
