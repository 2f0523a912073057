/** Streams stored and new events to followers, each exactly once and in order. */
import type { Static } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import type { webhookRoutes } from '../../src/contract/families/webhooks.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/webhook-events.ts'
import type { Database } from '../store/database.ts'
import { getLastPosition, listEventsAfter, type PositionedEvent } from './outbox-store.ts'

const BATCH_SIZE = 100

export class EventLog {
  readonly #database: Database
  readonly #followers = new Set<Follower>()
  #closed = false

  constructor(database: Database) {
    this.#database = database
  }

  /** Notifies followers of new events. */
  wake(): void {
    for (const follower of this.#followers) follower.wake()
  }

  /** A reconnecting client repeats its query, so Last-Event-ID takes precedence over `after`. */
  async follow(
    { after, types }: Static<typeof webhookRoutes.events.query>,
    lastEventId: string | undefined,
  ): Promise<AsyncIterable<StreamEvent>> {
    const eventTypes = types === undefined ? WEBHOOK_EVENTS : parseTypes(types)
    const lastSeen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after
    const position = lastSeen ?? (await getLastPosition(this.#database))
    const follower = new Follower(this.#database, eventTypes, position, () => this.#followers.delete(follower))
    this.#followers.add(follower)
    if (this.#closed) follower.end()
    return { [Symbol.asyncIterator]: () => follower }
  }

  /** Ends all streams. Clients reconnect after the restart with Last-Event-ID. */
  close(): void {
    this.#closed = true
    for (const follower of this.#followers) follower.end()
  }
}

/** Not a generator: `return()` of a generator waits until the pending `next()` resolves. */
class Follower implements AsyncIterator<StreamEvent> {
  readonly #database: Database
  readonly #types: readonly string[]
  readonly #onEnd: () => void
  #position: number
  #buffer: PositionedEvent[] = []
  #isReady = false
  #isEnded = false
  wake = () => {}

  constructor(database: Database, types: readonly string[], position: number, onEnd: () => void) {
    this.#database = database
    this.#types = types
    this.#position = position
    this.#onEnd = onEnd
  }

  end(): void {
    this.#isEnded = true
    this.#onEnd()
    this.wake()
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#isReady) {
      this.#isReady = true
      return { done: false, value: { event: 'ready', data: { types: this.#types }, id: String(this.#position) } }
    }
    while (!this.#isEnded) {
      // Created before reading, so that events which arrive meanwhile are not missed.
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve
      })
      if (this.#buffer.length === 0) this.#buffer = await listEventsAfter(this.#database, this.#position, this.#types, BATCH_SIZE)
      const event = this.#buffer.shift()
      if (event) {
        this.#position = event.position
        return { done: false, value: { event: event.type, data: { id: event.id, ...JSON.parse(event.body) }, id: String(event.position) } }
      }
      if (!this.#isEnded) await woken
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
  const suggestion = suggestWord(unknown, WEBHOOK_EVENTS)
  throw createValidationError(
    'types',
    `"${unknown}" is not an event; ${suggestion ? `did you mean "${suggestion}"?` : `events are ${WEBHOOK_EVENTS.join(', ')}`}`,
  )
}
