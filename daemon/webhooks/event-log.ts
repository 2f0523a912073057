/** Events for whoever follows them: those that were kept, then each as it happens, none left out and none twice. */
import { createValidationError } from '../../src/contract/errors.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/families/webhooks.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import type { Database } from '../store/database.ts'
import { getLastPosition, listEventsAfter, type PositionedEvent } from './outbox-store.ts'

const BATCH_SIZE = 100

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
    const wanted = types === undefined ? WEBHOOK_EVENTS : parseTypes(types)
    const seen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after
    const position = seen ?? (await getLastPosition(this.#database))
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
  readonly #onEnd: () => void
  #position: number
  #read: PositionedEvent[] = []
  #isReady = false
  #isEnded = false
  #wake = () => {}

  constructor(database: Database, types: readonly string[], position: number, gone: () => void) {
    this.#database = database
    this.#types = types
    this.#position = position
    this.#onEnd = gone
  }

  wake(): void {
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#onEnd()
    this.#wake()
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#isReady) {
      this.#isReady = true
      return { done: false, value: { event: 'ready', data: { types: this.#types }, id: String(this.#position) } }
    }
    while (!this.#isEnded) {
      // Before reading: what comes while we read wakes us all the same.
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      if (this.#read.length === 0) this.#read = await listEventsAfter(this.#database, this.#position, this.#types, BATCH_SIZE)
      const event = this.#read.shift()
      if (event) {
        this.#position = event.position
        return { done: false, value: { event: event.type, data: { id: event.id, ...JSON.parse(event.body) }, id: String(event.position) } }
      }
      if (!this.#isEnded) await more
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    this.end()
    return { done: true, value: undefined }
  }
}

function parseTypes(list: string): string[] {
  const types = list.split(',').map((type) => type.trim())
  const unknown = types.find((type) => !(WEBHOOK_EVENTS as readonly string[]).includes(type))
  if (unknown === undefined) return types
  const near = suggestWord(unknown, WEBHOOK_EVENTS)
  throw createValidationError(
    'types',
    `"${unknown}" is not an event; ${near ? `did you mean "${near}"?` : `events are ${WEBHOOK_EVENTS.join(', ')}`}`,
  )
}
