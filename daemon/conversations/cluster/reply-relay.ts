/** Passes the events of replies on to other daemons that follow them, and answers their requests about these replies. */
import { setTimeout as pause } from 'node:timers/promises'
import { createNotFoundError } from '../../../src/contract/errors.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { Shared } from '../../shared-services.ts'
import type { Transaction } from '../../store/database.ts'
import { retryWrite } from '../../store/remote/retry-write.ts'
import type { ActiveReplies } from '../active-replies.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import { updateDraft } from '../store.ts'
import { deleteAbandonedEvents, deleteEvents, insertEvents } from './relayed-events-store.ts'
import { type FollowRequest, type LeaveRequest, REPLY_REQUESTS } from './reply-requests.ts'

const WRITE_INTERVAL_MS = 100
/** In characters. A server limits the size of its responses. */
const MAX_BATCH_LENGTH = 256 * 1024
const CLOSE_TIMEOUT_MS = 2_000

interface Relay {
  reply: ActiveReply
  /** The daemon of each follower. */
  followers: Map<string, string>
  events: AsyncIterableIterator<ReplyEvent>
  done: Promise<void>
}

interface RelayDependencies extends Shared<'database' | 'cluster' | 'logger'> {
  activeReplies: ActiveReplies
}

export class ReplyRelay {
  readonly #dependencies: RelayDependencies
  readonly #relays = new Map<string, Relay>()

  constructor(dependencies: RelayDependencies) {
    this.#dependencies = dependencies
    const { activeReplies } = dependencies
    const { requests } = dependencies.cluster
    requests.handle(REPLY_REQUESTS.follow, async ({ sender, target, data }) => this.#follow(sender, target, data as FollowRequest))
    requests.handle(REPLY_REQUESTS.leave, async ({ target, data }) => this.#leave(target, data as LeaveRequest))
    requests.handle(REPLY_REQUESTS.abort, ({ target }) => activeReplies.abortConversation(target))
  }

  /** Removes what daemons left that ended while others followed their replies. */
  start(): void {
    const { database, logger } = this.#dependencies
    deleteAbandonedEvents(database).catch((error: unknown) => logger.warn({ err: error }, 'old events of replies could not be removed'))
  }

  /** Leaves replies whose followers ended with their daemon. */
  async removeEndedFollowers(): Promise<void> {
    if (this.#relays.size === 0) return
    const live = await this.#dependencies.cluster.listDaemons()
    for (const [messageId, { followers }] of [...this.#relays])
      for (const [follower, daemon] of followers) if (!live.has(daemon)) await this.#leave(messageId, { follower, isDetached: false })
  }

  /** The replies have ended: their last events are written. */
  async close(): Promise<void> {
    const written = Promise.all([...this.#relays.values()].map(({ done }) => done))
    await Promise.race([written, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
  }

  async #follow(daemon: string, messageId: string, { follower }: FollowRequest): Promise<void> {
    const reply = await this.#dependencies.activeReplies.findAnnounced(messageId)
    if (!reply) throw createNotFoundError('reply', messageId)
    const relay = this.#relays.get(messageId) ?? this.#start(reply)
    relay.followers.set(follower, daemon)
  }

  #start(reply: ActiveReply): Relay {
    const events = reply.follow()
    const done = this.#write(reply, events)
    const relay = { reply, followers: new Map<string, string>(), events, done }
    this.#relays.set(reply.messageId, relay)
    return relay
  }

  async #leave(messageId: string, { follower, isDetached }: LeaveRequest): Promise<void> {
    const relay = this.#relays.get(messageId)
    if (!relay?.followers.delete(follower)) return
    if (isDetached) relay.reply.detach()
    if (relay.followers.size > 0) return
    this.#relays.delete(messageId)
    await relay.events.return?.()
    await relay.done
    await this.#dependencies.database.write((transaction) => deleteEvents(transaction, messageId))
  }

  /** Each write contains all events since the one before. */
  async #write(reply: ActiveReply, events: AsyncIterableIterator<ReplyEvent>): Promise<void> {
    const { database, logger } = this.#dependencies
    const { messageId } = reply
    const unwritten: ReplyEvent[] = []
    let hasEnded = false
    const reading = readAll(events, unwritten).finally(() => {
      hasEnded = true
    })
    try {
      while (!hasEnded || unwritten.length > 0) {
        const batch = takeBatch(unwritten)
        if (batch.length > 0) await retryWrite(database, (transaction) => storeBatch(transaction, reply, batch))
        if (!hasEnded) await Promise.race([reading, pause(WRITE_INTERVAL_MS)])
      }
    } catch (error) {
      // Its followers get the end of the reply from the database.
      logger.warn({ err: error, message_id: messageId }, 'the events of a reply could not be passed on to another daemon')
    }
  }
}

/** A daemon that answers a request with a pending tool call reads the reply from the database. */
async function storeBatch(transaction: Transaction, reply: ActiveReply, events: readonly ReplyEvent[]): Promise<void> {
  if (events.some(({ event }) => event === 'confirmation_required')) await updateDraft(transaction, reply.draft.toMessage())
  await insertEvents(transaction, reply.messageId, events)
}

async function readAll(events: AsyncIterable<ReplyEvent>, target: ReplyEvent[]): Promise<void> {
  for await (const event of events) target.push(event)
}

function takeBatch(events: ReplyEvent[]): ReplyEvent[] {
  let length = 0
  let count = 0
  while (count < events.length && length < MAX_BATCH_LENGTH) length += JSON.stringify(events[count++]).length
  return events.splice(0, count)
}
