/** The transactional outbox: stores events and deliveries in the transaction that caused them. */
import { WEBHOOK_EVENTS, type WebhookEventData, type WebhookEventName } from '../../src/contract/webhook-events.ts'
import type { Clock } from '../async/clock.ts'
import type { EventBus } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, Transaction } from '../store/database.ts'
import { insertDelivery, insertEvent, listSubscribedWebhooks, type StoredEvent } from './outbox-store.ts'

export class Outbox {
  readonly #database: Database
  readonly #clock: Clock
  readonly #onFilled: () => void
  #isNotifying = false

  /** `onFilled` is called after events are committed. */
  constructor(database: Database, clock: Clock, onFilled: () => void) {
    this.#database = database
    this.#clock = clock
    this.#onFilled = onFilled
  }

  listen(events: EventBus): void {
    for (const name of WEBHOOK_EVENTS) events.on(name, (transaction, data) => this.#addEvent(transaction, name, data))
  }

  async #addEvent<N extends WebhookEventName>(transaction: Transaction, type: N, data: WebhookEventData[N]): Promise<void> {
    const event = createEvent(type, data, this.#clock.now())
    await insertEvent(transaction, event)
    for (const webhook of await listSubscribedWebhooks(transaction, type)) await insertDelivery(transaction, webhook, event)
    this.#notify()
  }

  /** Writes run one after the other, so an empty one ends after the transaction of the event. */
  #notify(): void {
    if (this.#isNotifying) return
    this.#isNotifying = true
    const committed = this.#database.write(async () => {
      this.#isNotifying = false
    })
    committed.then(this.#onFilled, () => {
      this.#isNotifying = false // the database is closed; the next start finds due deliveries
    })
  }
}

export function createEvent(type: string, data: object, now: number): StoredEvent {
  const timestamp = new Date(now).toISOString()
  return { id: generateId('evt'), type, body: JSON.stringify({ type, timestamp, data }), created_at: timestamp }
}
