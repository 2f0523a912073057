/** Streams stored and new events to followers, each exactly once and in order. */
import { EventEmitter, once } from 'node:events'
import type { Static } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import type { webhookRoutes } from '../../src/contract/families/webhooks.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/webhook-events.ts'
import type { Database } from '../store/database.ts'
import { getLastPosition, listEventsAfter } from './outbox-store.ts'

const BATCH_SIZE = 100

export class EventLog {
  readonly #database: Database
  readonly #news = new EventEmitter().setMaxListeners(0)
  readonly #closing = new AbortController()

  constructor(database: Database) {
    this.#database = database
  }

  /** Notifies followers of new events. */
  wake(): void {
    this.#news.emit('wake')
  }

  /** A reconnecting client repeats its query, so Last-Event-ID takes precedence over `after`. */
  async follow(
    { after, types }: Static<typeof webhookRoutes.events.query>,
    lastEventId: string | undefined,
  ): Promise<AsyncIterable<StreamEvent>> {
    const eventTypes = types === undefined ? WEBHOOK_EVENTS : parseTypes(types)
    const lastSeen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after
    const position = lastSeen ?? (await getLastPosition(this.#database))
    const leaving = new AbortController()
    const events = this.#read(position, eventTypes, AbortSignal.any([leaving.signal, this.#closing.signal]))
    // `return()` of the generator would wait until its pending `next()` resolves.
    const leave = async () => {
      leaving.abort()
      return { done: true as const, value: undefined }
    }
    return { [Symbol.asyncIterator]: () => ({ next: () => events.next(), return: leave }) }
  }

  /** Ends all streams. Clients reconnect after the restart with Last-Event-ID. */
  close(): void {
    this.#closing.abort()
  }

  async *#read(position: number, types: readonly string[], signal: AbortSignal): AsyncGenerator<StreamEvent> {
    yield { event: 'ready', data: { types }, id: String(position) }
    const waitForNews = () => once(this.#news, 'wake', { signal }).catch(() => undefined) // aborted
    // Created before reading, so that events which arrive meanwhile are not missed.
    let woken = waitForNews()
    for (let last = position; !signal.aborted; ) {
      const events = await listEventsAfter(this.#database, last, types, BATCH_SIZE)
      for (const { position, id, type, body } of events) {
        if (signal.aborted) return
        last = position
        yield { event: type, data: { id, ...JSON.parse(body) }, id: String(position) }
      }
      if (events.length > 0) continue
      await woken
      woken = waitForNews()
    }
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
