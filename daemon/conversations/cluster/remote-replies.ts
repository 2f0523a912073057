/** Replies that another daemon writes: followed, confirmed and aborted from here. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Static } from 'typebox'
import { CadreError } from '../../../src/contract/errors.ts'
import type { conversationRoutes } from '../../../src/contract/families/conversations.ts'
import type { ReplyEvent, ReplyEvents } from '../../../src/contract/reply-events.ts'
import type { StreamEvent } from '../../../src/contract/route.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import { DeferredResponse } from '../../core/deferred-response.ts'
import type { Database } from '../../store/database.ts'
import type { DeferredReply } from '../reply/deliver-reply.ts'
import { replayStoredReply, type StoredReply } from '../reply/replay-stored-reply.ts'
import type { StoredMessage } from '../store.ts'
import { findReplyOwner, listReplyOwners, readEvents } from './relayed-events-store.ts'
import { type FollowRequest, type LeaveRequest, REPLY_REQUESTS } from './reply-requests.ts'

const READ_INTERVAL_MS = 150
/** How long the last events may take to arrive after the end of the reply was stored. */
const LAST_EVENTS_TIMEOUT_MS = 2_000
/** A client follows again after an outage of the database that takes longer. */
const OUTAGE_TIMEOUT_MS = 30_000

export type ConfirmedToolCall = Static<typeof conversationRoutes.confirm.response>
type LoadReply = () => Promise<StoredReply>

export function createRemoteReplies(database: Database, cluster: Cluster) {
  /** Follows a reply from the event after that id. Returns undefined if no other daemon writes it. */
  async function follow(messageId: string, load: LoadReply, after = 0): Promise<RemoteFollower | undefined> {
    const owner = await findReplyOwner(cluster, database, messageId)
    if (owner === undefined) return undefined
    const request: FollowRequest = { follower: randomUUID() }
    try {
      await cluster.requests.send(owner, REPLY_REQUESTS.follow, messageId, request)
    } catch (error) {
      if (error instanceof CadreError && error.code === 'NOT_FOUND') return undefined // it has ended
      throw error
    }
    const leave = (isDetached: boolean) => {
      const leaving: LeaveRequest = { ...request, isDetached }
      // If it fails, the other daemon notices when this one ends.
      cluster.requests.send(owner, REPLY_REQUESTS.leave, messageId, leaving).catch(() => undefined)
    }
    return new RemoteFollower(database, messageId, load, after, leave)
  }

  /** Returns undefined if no other daemon writes the reply. */
  async function confirm(messageId: string, answer: object): Promise<ConfirmedToolCall | undefined> {
    const owner = await findReplyOwner(cluster, database, messageId)
    return owner === undefined ? undefined : cluster.requests.send<ConfirmedToolCall>(owner, REPLY_REQUESTS.confirm, messageId, answer)
  }

  async function abortConversation(conversationId: string): Promise<void> {
    const owners = await listReplyOwners(cluster, database, conversationId)
    await Promise.all(owners.map((owner) => cluster.requests.send(owner, REPLY_REQUESTS.abort, conversationId)))
  }

  return { follow, confirm, abortConversation }
}

export type RemoteReplies = ReturnType<typeof createRemoteReplies>

class RemoteFollower implements AsyncIterableIterator<ReplyEvent> {
  readonly #database: Database
  readonly #messageId: string
  readonly #load: LoadReply
  readonly #left = new AbortController()
  readonly #events: AsyncGenerator<ReplyEvent>
  #position: number
  #isDetached = false

  constructor(database: Database, messageId: string, load: LoadReply, after: number, leave: (isDetached: boolean) => void) {
    this.#database = database
    this.#messageId = messageId
    this.#load = load
    this.#position = after
    this.#events = this.#read()
    this.#left.signal.addEventListener('abort', () => leave(this.#isDetached))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ReplyEvent>> {
    return this.#events.next()
  }

  /** Takes effect at once: a generator would return after its next event only. */
  async return(): Promise<IteratorResult<ReplyEvent>> {
    this.#left.abort()
    return { done: true, value: undefined }
  }

  /** The reply as the response of a request: its events, or the complete message. */
  toResponse(stream: boolean, signal: AbortSignal): DeferredReply {
    const leave = () => void this.return()
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    if (stream) return new DeferredResponse(async (): Promise<AsyncIterable<StreamEvent>> => this)
    const message = this.#waitForMessage(signal)
    message.catch(() => undefined) // the client disconnected
    return new DeferredResponse(() => message)
  }

  /** Ends with the complete message, or with the first tool call that waits for confirmation. */
  async #waitForMessage(signal: AbortSignal): Promise<StoredMessage> {
    for await (const { event, data } of this) {
      if (event === 'message_end') return (data as ReplyEvents['message_end']).message as StoredMessage
      if (event === 'error') throw toError(data as ReplyEvents['error'])
      if (event !== 'confirmation_required') continue
      this.#isDetached = true
      return (await this.#load()).outcome.message
    }
    signal.throwIfAborted()
    throw new CadreError('UNAVAILABLE', 'The reply ended without a message.', { hint: 'Try again in a moment.' })
  }

  async *#read(): AsyncGenerator<ReplyEvent> {
    const { signal } = this.#left
    let endedAt: number | undefined
    try {
      while (!signal.aborted) {
        const { events, isActive } = await this.#readEvents()
        for (const event of events) {
          if (signal.aborted) return
          this.#position = Number(event.id)
          yield event
          if (event.event === 'message_end' || event.event === 'error') return
        }
        if (isActive || events.length > 0) endedAt = undefined
        else endedAt ??= performance.now()
        // The other daemon ended, or could not store its last events.
        if (endedAt !== undefined && performance.now() - endedAt > LAST_EVENTS_TIMEOUT_MS)
          return yield* replayStoredReply(await this.#load(), this.#position)
        await pause(READ_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
      }
    } finally {
      this.#left.abort()
    }
  }

  async #readEvents(): ReturnType<typeof readEvents> {
    for (const deadline = performance.now() + OUTAGE_TIMEOUT_MS; ; ) {
      try {
        return await readEvents(this.#database, this.#messageId, this.#position)
      } catch (error) {
        const isTemporary = error instanceof CadreError && error.retryAfterSeconds !== undefined
        if (!isTemporary || this.#left.signal.aborted || performance.now() > deadline) throw error
        await pause(500)
      }
    }
  }
}

const toError = ({ error, code, hint }: ReplyEvents['error']): CadreError => new CadreError(code as CadreError['code'], error, { hint })
