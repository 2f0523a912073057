/** Where events wait for their receivers: written in the transaction in which they happen, so that both are kept or neither. */
import { WEBHOOK_EVENTS } from '../../src/contract/families/webhooks.ts'
import type { Clock } from '../async/clock.ts'
import type { DomainEvents, EventBus, EventName } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, Transaction } from '../store/database.ts'
import { insertDelivery, insertEvent, listSubscribedWebhooks, type StoredEvent } from './outbox-store.ts'

export class Outbox {
  readonly #database: Database
  readonly #clock: Clock
  readonly #onFilled: () => void
  #isNotifying = false

  /** `filled` is called when events are there for good. */
  constructor(database: Database, clock: Clock, filled: () => void) {
    this.#database = database
    this.#clock = clock
    this.#onFilled = filled
  }

  listen(events: EventBus): void {
    for (const name of WEBHOOK_EVENTS) events.on(name, (transaction, data) => this.#addEvent(transaction, name, data))
  }

  async #addEvent<N extends EventName>(transaction: Transaction, type: N, data: DomainEvents[N]): Promise<void> {
    const event = createEvent(type, data, this.#clock.now())
    await insertEvent(transaction, event)
    for (const webhook of await listSubscribedWebhooks(transaction, type)) await insertDelivery(transaction, webhook, event)
    this.#notify()
  }

  /** Writes are done one after the other: one that changes nothing is over when the transaction of the event is. */
  #notify(): void {
    if (this.#isNotifying) return
    this.#isNotifying = true
    const told = this.#database.write(async () => {
      this.#isNotifying = false
    })
    told.then(this.#onFilled, () => {
      this.#isNotifying = false // the database is closed; the next start finds what is due
    })
  }
}

export function createEvent(type: string, data: object, now: number): StoredEvent {
  const timestamp = new Date(now).toISOString()
  return { id: generateId('evt'), type, body: JSON.stringify({ type, timestamp, data }), created_at: timestamp }
}
