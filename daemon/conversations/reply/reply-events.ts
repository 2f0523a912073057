/** The events of one reply, for any number of followers: each reads all of them, at its own pace. */
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'

/** How far even the fastest follower may be behind before whoever writes waits for it, in characters. */
const MOST_BEHIND = 64 * 1024
/** What an event weighs besides its text. */
const FRAME = 64

export class EventLog {
  readonly #events: ReplyEvent[] = []
  /** How much was written before each event, so that what is behind is a subtraction. */
  readonly #before: number[] = []
  readonly #followers = new Set<Follower>()
  readonly #roomWaiters: (() => void)[] = []
  #written = 0
  #ended = false

  get size(): number {
    return this.#written
  }

  get length(): number {
    return this.#events.length
  }

  get followers(): number {
    return this.#followers.size
  }

  append<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#events.push({ event, data, id: String(this.#events.length + 1) } as ReplyEvent)
    this.#before.push(this.#written)
    this.#written += FRAME + (event === 'message_delta' ? (data as ReplyEvents['message_delta']).text.length : JSON.stringify(data).length)
    for (const follower of this.#followers) follower.wake()
  }

  /** Nothing comes after the last event. */
  end(): void {
    this.#ended = true
    for (const follower of this.#followers) follower.wake()
    this.#letGo()
  }

  /** The events after the one of that id, then those that come. */
  follow(after: number, left: () => void): AsyncIterableIterator<ReplyEvent> {
    const follower = new Follower(this, Math.min(Math.max(0, after), this.#events.length), left)
    this.#followers.add(follower)
    return follower
  }

  /** Undefined while a follower keeps up or there is none, else what to wait for. */
  room(): Promise<void> | undefined {
    return this.#crowded() ? new Promise((resolve) => this.#roomWaiters.push(resolve)) : undefined
  }

  /** @internal For followers alone. */
  at(position: number): ReplyEvent | 'later' | undefined {
    return this.#events[position] ?? (this.#ended ? undefined : 'later')
  }

  /** @internal For followers alone. */
  advanced(): void {
    if (this.#roomWaiters.length > 0 && !this.#crowded()) this.#letGo()
  }

  /** @internal For followers alone. */
  left(follower: Follower): void {
    this.#followers.delete(follower)
    this.advanced()
  }

  #crowded(): boolean {
    if (this.#ended || this.#followers.size === 0) return false
    for (const { position } of this.#followers) if (this.#written - (this.#before[position] ?? this.#written) <= MOST_BEHIND) return false
    return true
  }

  #letGo(): void {
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
  }
}

/** Written out rather than a generator: a generator that waits for an event hears that its reader left only when the event comes. */
class Follower implements AsyncIterableIterator<ReplyEvent> {
  position: number
  readonly #log: EventLog
  readonly #left: () => void
  #gone = false
  #waiting: ((result: IteratorResult<ReplyEvent>) => void) | undefined

  constructor(log: EventLog, position: number, left: () => void) {
    this.#log = log
    this.position = position
    this.#left = left
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
    const event = this.#gone ? undefined : this.#log.at(this.position)
    if (event === 'later') return undefined
    if (event === undefined) {
      this.#leave()
      return { done: true, value: undefined }
    }
    this.position++
    this.#log.advanced()
    return { done: false, value: event }
  }

  #leave(): void {
    if (this.#gone) return
    this.#gone = true
    this.#log.left(this)
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = undefined
    this.#left()
  }
}
