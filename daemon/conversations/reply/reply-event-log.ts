/** The events of one reply, for any number of followers: each reads all of them, at its own pace. */
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'

/** How far even the fastest follower may be behind before whoever writes waits for it, in characters. */
const MAX_BACKLOG = 64 * 1024
/** What an event weighs besides its text. */
const EVENT_OVERHEAD = 64

export class ReplyEventLog {
  readonly #events: ReplyEvent[] = []
  /** How much was written before each event, so that what is behind is a subtraction. */
  readonly #offsets: number[] = []
  readonly #followerCount = new Set<Follower>()
  readonly #blockedWriters: (() => void)[] = []
  #size = 0
  #ended = false

  get size(): number {
    return this.#size
  }

  get length(): number {
    return this.#events.length
  }

  get followers(): number {
    return this.#followerCount.size
  }

  append<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#events.push({ event, data, id: String(this.#events.length + 1) } as ReplyEvent)
    this.#offsets.push(this.#size)
    this.#size +=
      EVENT_OVERHEAD + (event === 'message_delta' ? (data as ReplyEvents['message_delta']).text.length : JSON.stringify(data).length)
    for (const follower of this.#followerCount) follower.wake()
  }

  /** Nothing comes after the last event. */
  end(): void {
    this.#ended = true
    for (const follower of this.#followerCount) follower.wake()
    this.#releaseWriters()
  }

  /** The events after the one of that id, then those that come. */
  follow(after: number, removeFollower: () => void): AsyncIterableIterator<ReplyEvent> {
    const follower = new Follower(this, Math.min(Math.max(0, after), this.#events.length), removeFollower)
    this.#followerCount.add(follower)
    return follower
  }

  /** Undefined while a follower keeps up or there is none, else what to wait for. */
  waitForFollowers(): Promise<void> | undefined {
    return this.#isBacklogged() ? new Promise((resolve) => this.#blockedWriters.push(resolve)) : undefined
  }

  /** @internal For followers alone. */
  getEvent(position: number): ReplyEvent | 'later' | undefined {
    return this.#events[position] ?? (this.#ended ? undefined : 'later')
  }

  /** @internal For followers alone. */
  onAdvance(): void {
    if (this.#blockedWriters.length > 0 && !this.#isBacklogged()) this.#releaseWriters()
  }

  /** @internal For followers alone. */
  left(follower: Follower): void {
    this.#followerCount.delete(follower)
    this.onAdvance()
  }

  #isBacklogged(): boolean {
    if (this.#ended || this.#followerCount.size === 0) return false
    for (const { position } of this.#followerCount) if (this.#size - (this.#offsets[position] ?? this.#size) <= MAX_BACKLOG) return false
    return true
  }

  #releaseWriters(): void {
    for (const resolve of this.#blockedWriters.splice(0)) resolve()
  }
}

/** Written out rather than a generator: a generator that waits for an event hears that its reader left only when the event comes. */
class Follower implements AsyncIterableIterator<ReplyEvent> {
  position: number
  readonly #log: ReplyEventLog
  readonly #onLeave: () => void
  #hasLeft = false
  #waiting: ((result: IteratorResult<ReplyEvent>) => void) | undefined

  constructor(log: ReplyEventLog, position: number, left: () => void) {
    this.#log = log
    this.position = position
    this.#onLeave = left
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<ReplyEvent>> {
    const result = this.#take()
    if (result) return result
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  async return(): Promise<IteratorResult<ReplyEvent>> {
    this.#leave()
    return { done: true, value: undefined }
  }

  wake(): void {
    if (!this.#waiting) return
    const result = this.#take()
    if (!result) return
    const resolve = this.#waiting
    this.#waiting = undefined
    resolve(result)
  }

  #take(): IteratorResult<ReplyEvent> | undefined {
    const event = this.#hasLeft ? undefined : this.#log.getEvent(this.position)
    if (event === 'later') return undefined
    if (event === undefined) {
      this.#leave()
      return { done: true, value: undefined }
    }
    this.position++
    this.#log.onAdvance()
    return { done: false, value: event }
  }

  #leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#log.left(this)
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = undefined
    this.#onLeave()
  }
}
