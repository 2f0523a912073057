/** Event log of one reply. Any number of followers read it, each at its own pace. */
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'

/** Characters that the fastest follower may be behind before the writer waits for it. */
const MAX_BACKLOG = 64 * 1024
/** Overhead of each event, in addition to its text. */
const EVENT_OVERHEAD = 64

export class ReplyEventLog {
  readonly #events: ReplyEvent[] = []
  /** Number of characters before each event. */
  readonly #offsets: number[] = []
  readonly #followers = new Set<Follower>()
  readonly #blockedWriters: (() => void)[] = []
  #size = 0
  #ended = false

  get size(): number {
    return this.#size
  }

  get length(): number {
    return this.#events.length
  }

  get followerCount(): number {
    return this.#followers.size
  }

  append<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#events.push({ event, data, id: String(this.#events.length + 1) } as ReplyEvent)
    this.#offsets.push(this.#size)
    this.#size +=
      EVENT_OVERHEAD + (event === 'message_delta' ? (data as ReplyEvents['message_delta']).text.length : JSON.stringify(data).length)
    for (const follower of this.#followers) follower.wake()
  }

  end(): void {
    this.#ended = true
    for (const follower of this.#followers) follower.wake()
    this.#releaseWriters()
  }

  /** Yields the events after that id, then new ones. */
  follow(after: number, onLeave: () => void): AsyncIterableIterator<ReplyEvent> {
    const follower = new Follower(this, Math.min(Math.max(0, after), this.#events.length), onLeave)
    this.#followers.add(follower)
    return follower
  }

  /** Backpressure: undefined unless all followers are too far behind. */
  waitForFollowers(): Promise<void> | undefined {
    return this.#isBacklogged() ? new Promise((resolve) => this.#blockedWriters.push(resolve)) : undefined
  }

  /** @internal */
  getEvent(position: number): ReplyEvent | 'later' | undefined {
    return this.#events[position] ?? (this.#ended ? undefined : 'later')
  }

  /** @internal */
  onAdvance(): void {
    if (this.#blockedWriters.length > 0 && !this.#isBacklogged()) this.#releaseWriters()
  }

  /** @internal */
  removeFollower(follower: Follower): void {
    this.#followers.delete(follower)
    this.onAdvance()
  }

  #isBacklogged(): boolean {
    if (this.#ended || this.#followers.size === 0) return false
    for (const { position } of this.#followers) if (this.#size - (this.#offsets[position] ?? this.#size) <= MAX_BACKLOG) return false
    return true
  }

  #releaseWriters(): void {
    for (const resolve of this.#blockedWriters.splice(0)) resolve()
  }
}

/** Not an async generator: `return()` of a generator that awaits an event takes effect only when the event arrives. */
class Follower implements AsyncIterableIterator<ReplyEvent> {
  position: number
  readonly #log: ReplyEventLog
  readonly #onLeave: () => void
  #hasLeft = false
  #waiting: ((result: IteratorResult<ReplyEvent>) => void) | undefined

  constructor(log: ReplyEventLog, position: number, onLeave: () => void) {
    this.#log = log
    this.position = position
    this.#onLeave = onLeave
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
    // Undefined if the log ended without another event: leaving has resolved it.
    this.#waiting?.(result)
    this.#waiting = undefined
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
    this.#log.removeFollower(this)
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = undefined
    this.#onLeave()
  }
}
