/** All replies under way, and for a while those that ended: whoever comes late still hears how it went. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import type { Books } from './agent-loop/reply-persistence.ts'
import { Turns } from './message-queue.ts'
import type { Reply } from './reply/active-reply.ts'

/** The text of each reply under way is stored about once a second; of many, some at a time. */
const CHECKPOINT_MS = 100
const CHECKPOINTS_A_REPLY = 10
/** What is kept of replies that ended, in events' characters and in number. */
const MOST_HELD = 8 * 1024 * 1024
const MOST_HELD_REPLIES = 500
/** The longest a stop waits for replies to be stored. */
const CLOSING_MS = 4_000

interface Running {
  reply: Reply
  books: Books
  ended: Promise<void>
  storedAt: number
}

export class Replies {
  readonly turns = new Turns()
  readonly #database: Database
  readonly #logger: Logger
  /** Replies that others may read of already, although we have not heard that they are stored. */
  readonly #expected = new Map<string, Promise<void>>()
  readonly #running = new Map<string, Running>()
  readonly #held = new Map<string, Reply>()
  #heldSize = 0
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#logger = logger
  }

  /** Says that a reply is about to be stored; returns how to say that it is under way, or will never be. */
  expect(messageId: string): () => void {
    let proceed = () => {}
    const here = new Promise<void>((resolve) => {
      proceed = resolve
    })
    this.#expected.set(messageId, here)
    return () => {
      this.#expected.delete(messageId)
      proceed()
    }
  }

  /** The same as `find` for whoever has read of it before it is under way. */
  async join(messageId: string): Promise<Reply | undefined> {
    await this.#expected.get(messageId)
    return this.find(messageId)
  }

  /** Under way, or ended a while ago. */
  find(messageId: string): Reply | undefined {
    return this.#running.get(messageId)?.reply ?? this.#held.get(messageId)
  }

  /** Keeps a reply until its work is done. */
  run(reply: Reply, books: Books, work: () => Promise<void>): void {
    const ended = work().finally(() => {
      this.#running.delete(reply.messageId)
      this.#hold(reply)
      if (this.#running.size === 0) this.#rest()
    })
    this.#running.set(reply.messageId, { reply, books, ended, storedAt: performance.now() })
    this.#timer ??= setInterval(() => void this.#checkpoint(), CHECKPOINT_MS)
  }

  /** Ends what is being written in a conversation, and waits until it is stored. */
  async abort(conversationId: string): Promise<void> {
    const here = [...this.#running.values()].filter(({ reply }) => reply.conversationId === conversationId)
    for (const { reply } of here) reply.end('aborted')
    await Promise.all(here.map(({ ended }) => ended))
    for (const [id, reply] of this.#held) if (reply.conversationId === conversationId) this.#release(id, reply)
  }

  /** Ends all of them; each is stored and says how it ended. */
  async close(): Promise<void> {
    this.turns.close()
    const all = [...this.#running.values()]
    for (const { reply } of all) reply.end('interrupted')
    await Promise.race([Promise.all(all.map(({ ended }) => ended)), pause(CLOSING_MS, undefined, { ref: false })])
    this.#rest()
  }

  async #checkpoint(): Promise<void> {
    const all = [...this.#running.values()]
    const share = Math.ceil(all.length / CHECKPOINTS_A_REPLY)
    const due = all.sort((a, b) => a.storedAt - b.storedAt).slice(0, share)
    const now = performance.now()
    const long = due.filter(({ storedAt }) => now - storedAt >= CHECKPOINT_MS * CHECKPOINTS_A_REPLY * 0.9)
    if (long.length === 0) return
    for (const running of long) running.storedAt = now
    try {
      await this.#database.write(async (transaction) => {
        for (const { books } of long) await books.checkpoint(transaction)
      })
    } catch (error) {
      this.#logger.warn({ err: error }, 'replies under way could not be stored')
    }
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #hold(reply: Reply): void {
    this.#held.set(reply.messageId, reply)
    this.#heldSize += reply.log.size
    for (const [id, oldest] of this.#held) {
      if (this.#heldSize <= MOST_HELD && this.#held.size <= MOST_HELD_REPLIES) break
      this.#release(id, oldest)
    }
  }

  #release(id: string, reply: Reply): void {
    if (this.#held.delete(id)) this.#heldSize -= reply.log.size
  }
}
