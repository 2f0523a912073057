/** Registry of the replies that are being written and of those that ended recently, so that late followers still get their events. */
import { setTimeout as pause } from 'node:timers/promises'
import { createDeferred } from '../async/deferred.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import type { UsageRecorder } from './agent-loop/usage-recorder.ts'
import { createRemoteReplies, type RemoteReplies } from './cluster/remote-replies.ts'
import { MessageQueue } from './message-queue.ts'
import type { ActiveReply } from './reply/active-reply.ts'

/** Each interval stores the text of one slice of the active replies, so each reply is stored about once a second. */
const CHECKPOINT_INTERVAL_MS = 100
const CHECKPOINT_SLICES = 10
const MAX_RETAINED_CHARACTERS = 8 * 1024 * 1024
const MAX_RETAINED_REPLIES = 500
const CLOSE_TIMEOUT_MS = 4_000

interface RunningReply {
  reply: ActiveReply
  recorder: UsageRecorder
  done: Promise<void>
  storedAt: number
}

export class ActiveReplies {
  readonly queue = new MessageQueue()
  /** Replies of other daemons. */
  readonly remote: RemoteReplies
  readonly #database: Database
  readonly #logger: Logger
  /** Replies whose insert is not yet confirmed; other readers may see them in the database already. */
  readonly #announced = new Map<string, Promise<void>>()
  readonly #running = new Map<string, RunningReply>()
  readonly #retained = new Map<string, ActiveReply>()
  #retainedCharacters = 0
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, cluster: Cluster, logger: Logger) {
    this.#database = database
    this.remote = createRemoteReplies(database, cluster)
    this.#logger = logger
  }

  /** Call before a reply is stored. The returned function ends the announcement, whether the reply started or not. */
  announce(messageId: string): () => void {
    const { promise, resolve } = createDeferred<void>()
    this.#announced.set(messageId, promise)
    return () => {
      this.#announced.delete(messageId)
      resolve()
    }
  }

  /** Like `find`, but waits for a reply that is about to start. */
  async findAnnounced(messageId: string): Promise<ActiveReply | undefined> {
    await this.#announced.get(messageId)
    return this.find(messageId)
  }

  get count(): number {
    return this.#running.size
  }

  /** Finds an active or recently ended reply. */
  find(messageId: string): ActiveReply | undefined {
    return this.#running.get(messageId)?.reply ?? this.#retained.get(messageId)
  }

  run(reply: ActiveReply, recorder: RunningReply['recorder'], work: () => Promise<void>): void {
    const done = work().finally(() => {
      this.#running.delete(reply.messageId)
      if (reply.conversationId !== '') this.#retain(reply)
      if (this.#running.size === 0) this.#stopCheckpoints()
    })
    this.#running.set(reply.messageId, { reply, recorder, done, storedAt: performance.now() })
    this.#timer ??= setInterval(() => void this.#storeCheckpoint(), CHECKPOINT_INTERVAL_MS)
  }

  /** Forgets a reply that ended and was deleted. */
  forget(messageId: string): void {
    const reply = this.#retained.get(messageId)
    if (reply) this.#release(messageId, reply)
  }

  /** Aborts the replies of a conversation on any daemon and waits until they are stored. */
  async abortEverywhere(conversationId: string): Promise<void> {
    await Promise.all([this.abortConversation(conversationId), this.remote.abortConversation(conversationId)])
  }

  /** Aborts the replies of a conversation on this daemon. */
  async abortConversation(conversationId: string): Promise<void> {
    const affected = [...this.#running.values()].filter(({ reply }) => reply.conversationId === conversationId)
    for (const { reply } of affected) reply.abort('aborted')
    await Promise.all(affected.map(({ done }) => done))
    for (const [id, reply] of this.#retained) if (reply.conversationId === conversationId) this.#release(id, reply)
  }

  /** Interrupts all replies; each is stored and sends its last event. */
  async close(): Promise<void> {
    this.queue.close()
    const all = [...this.#running.values()]
    for (const { reply } of all) reply.abort('interrupted')
    await Promise.race([Promise.all(all.map(({ done }) => done)), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    this.#stopCheckpoints()
  }

  async #storeCheckpoint(): Promise<void> {
    const all = [...this.#running.values()]
    const share = Math.ceil(all.length / CHECKPOINT_SLICES)
    const due = all.sort((a, b) => a.storedAt - b.storedAt).slice(0, share)
    const now = performance.now()
    const overdue = due.filter(({ storedAt }) => now - storedAt >= CHECKPOINT_INTERVAL_MS * CHECKPOINT_SLICES * 0.9)
    if (overdue.length === 0) return
    for (const running of overdue) running.storedAt = now
    try {
      await this.#database.write(async (transaction) => {
        for (const { recorder } of overdue) await recorder.storeText(transaction)
      })
    } catch (error) {
      this.#logger.warn({ err: error }, 'active replies could not be stored')
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
