/** All replies under way, and for a while those that ended: whoever comes late still hears how it went. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import type { ReplyRecorder } from './agent-loop/reply-recorder.ts'
import { MessageQueue } from './message-queue.ts'
import type { ActiveReply } from './reply/active-reply.ts'

/** The text of each reply under way is stored about once a second; of many, some at a time. */
const CHECKPOINT_INTERVAL_MS = 100
const CHECKPOINT_SLICES = 10
/** What is kept of replies that ended, in events' characters and in number. */
const MAX_RETAINED_CHARACTERS = 8 * 1024 * 1024
const MAX_RETAINED_REPLIES = 500
/** The longest a stop waits for replies to be stored. */
const CLOSE_TIMEOUT_MS = 4_000

interface RunningReply {
  reply: ActiveReply
  recorder: ReplyRecorder
  done: Promise<void>
  storedAt: number
}

export class ActiveReplies {
  readonly queue = new MessageQueue()
  readonly #database: Database
  readonly #logger: Logger
  /** Replies that others may read of already, although we have not heard that they are stored. */
  readonly #announced = new Map<string, Promise<void>>()
  readonly #running = new Map<string, RunningReply>()
  readonly #retained = new Map<string, ActiveReply>()
  #retainedCharacters = 0
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#logger = logger
  }

  /** Says that a reply is about to be stored; returns how to say that it is under way, or will never be. */
  announce(messageId: string): () => void {
    let proceed = () => {}
    const here = new Promise<void>((resolve) => {
      proceed = resolve
    })
    this.#announced.set(messageId, here)
    return () => {
      this.#announced.delete(messageId)
      proceed()
    }
  }

  /** The same as `find` for whoever has read of it before it is under way. */
  async findAnnounced(messageId: string): Promise<ActiveReply | undefined> {
    await this.#announced.get(messageId)
    return this.find(messageId)
  }

  /** Under way, or ended a while ago. */
  find(messageId: string): ActiveReply | undefined {
    return this.#running.get(messageId)?.reply ?? this.#retained.get(messageId)
  }

  /** Keeps a reply until its work is done. */
  run(reply: ActiveReply, books: ReplyRecorder, work: () => Promise<void>): void {
    const ended = work().finally(() => {
      this.#running.delete(reply.messageId)
      this.#retain(reply)
      if (this.#running.size === 0) this.#stopCheckpoints()
    })
    this.#running.set(reply.messageId, { reply, recorder: books, done: ended, storedAt: performance.now() })
    this.#timer ??= setInterval(() => void this.#storeCheckpoint(), CHECKPOINT_INTERVAL_MS)
  }

  /** Ends what is being written in a conversation, and waits until it is stored. */
  async abortConversation(conversationId: string): Promise<void> {
    const here = [...this.#running.values()].filter(({ reply }) => reply.conversationId === conversationId)
    for (const { reply } of here) reply.abort('aborted')
    await Promise.all(here.map(({ done: ended }) => ended))
    for (const [id, reply] of this.#retained) if (reply.conversationId === conversationId) this.#release(id, reply)
  }

  /** Ends all of them; each is stored and says how it ended. */
  async close(): Promise<void> {
    this.queue.close()
    const all = [...this.#running.values()]
    for (const { reply } of all) reply.abort('interrupted')
    await Promise.race([Promise.all(all.map(({ done: ended }) => ended)), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    this.#stopCheckpoints()
  }

  async #storeCheckpoint(): Promise<void> {
    const all = [...this.#running.values()]
    const share = Math.ceil(all.length / CHECKPOINT_SLICES)
    const due = all.sort((a, b) => a.storedAt - b.storedAt).slice(0, share)
    const now = performance.now()
    const long = due.filter(({ storedAt }) => now - storedAt >= CHECKPOINT_INTERVAL_MS * CHECKPOINT_SLICES * 0.9)
    if (long.length === 0) return
    for (const running of long) running.storedAt = now
    try {
      await this.#database.write(async (transaction) => {
        for (const { recorder: books } of long) await books.storeText(transaction)
      })
    } catch (error) {
      this.#logger.warn({ err: error }, 'replies under way could not be stored')
    }
  }

  #stopCheckpoints(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #retain(reply: ActiveReply): void {
    this.#retained.set(reply.messageId, reply)
    this.#retainedCharacters += reply.events.size
    for (const [id, oldest] of this.#retained) {
      if (this.#retainedCharacters <= MAX_RETAINED_CHARACTERS && this.#retained.size <= MAX_RETAINED_REPLIES) break
      this.#release(id, oldest)
    }
  }

  #release(id: string, reply: ActiveReply): void {
    if (this.#retained.delete(id)) this.#retainedCharacters -= reply.events.size
  }
}
