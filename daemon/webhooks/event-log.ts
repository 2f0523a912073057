/** Events for whoever follows them: those that were kept, then each as it happens, none left out and none twice. */
import { createValidationError } from '../../src/contract/errors.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/families/webhooks.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import type { Database } from '../store/database.ts'
import { eventsBehind, lastPosition, type PositionedEvent } from './outbox-store.ts'

const READ_AT_ONCE = 100

export interface FollowQuery {
  after?: number
  types?: string
}

export class EventLog {
  readonly #database: Database
  readonly #followers = new Set<Follower>()
  #closed = false

  constructor(database: Database) {
    this.#database = database
  }

  /** Says that there are more. */
  wake(): void {
    for (const follower of this.#followers) follower.wake()
  }

  /** A client that connects by itself again repeats its query, so what it has seen last counts. */
  async follow({ after, types }: FollowQuery, lastEventId?: string): Promise<AsyncIterable<StreamEvent>> {
    const wanted = types === undefined ? WEBHOOK_EVENTS : typesOf(types)
    const seen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after
    const position = seen ?? (await lastPosition(this.#database))
    const follower = new Follower(this.#database, wanted, position, () => this.#followers.delete(follower))
    this.#followers.add(follower)
    if (this.#closed) follower.end()
    return { [Symbol.asyncIterator]: () => follower }
  }

  /** Whoever follows comes back after the restart, with the id of what it has seen. */
  close(): void {
    this.#closed = true
    for (const follower of this.#followers) follower.end()
  }
}

/** An iterator and no generator: a generator that waits for the next event hears of its reader's end only with that event. */
class Follower implements AsyncIterator<StreamEvent> {
  readonly #database: Database
  readonly #types: readonly string[]
  readonly #gone: () => void
  #position: number
  #read: PositionedEvent[] = []
  #greeted = false
  #ended = false
  #wake = () => {}

  constructor(database: Database, types: readonly string[], position: number, gone: () => void) {
    this.#database = database
    this.#types = types
    this.#position = position
    this.#gone = gone
  }

  wake(): void {
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#gone()
    this.#wake()
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#greeted) {
      this.#greeted = true
      return { done: false, value: { event: 'ready', data: { types: this.#types }, id: String(this.#position) } }
    }
    while (!this.#ended) {
      // Before reading: what comes while we read wakes us all the same.
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      if (this.#read.length === 0) this.#read = await eventsBehind(this.#database, this.#position, this.#types, READ_AT_ONCE)
      const event = this.#read.shift()
      if (event) {
        this.#position = event.position
        return { done: false, value: { event: event.type, data: { id: event.id, ...JSON.parse(event.body) }, id: String(event.position) } }
      }
      if (!this.#ended) await more
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    this.end()
    return { done: true, value: undefined }
  }
}

function typesOf(list: string): string[] {
  const types = list.split(',').map((type) => type.trim())
  const unknown = types.find((type) => !(WEBHOOK_EVENTS as readonly string[]).includes(type))
  if (unknown === undefined) return types
  const near = suggestWord(unknown, WEBHOOK_EVENTS)
  throw createValidationError(
    'types',
    `"${unknown}" is not an event; ${near ? `did you mean "${near}"?` : `events are ${WEBHOOK_EVENTS.join(', ')}`}`,
  )
}
