/** Where events wait for their receivers: written in the transaction in which they happen, so that both are kept or neither. */
import { WEBHOOK_EVENTS } from '../../src/contract/families/webhooks.ts'
import type { Clock } from '../async/clock.ts'
import type { DomainEvents, EventBus, EventName } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, Transaction } from '../store/database.ts'
import { insertDelivery, insertEvent, type StoredEvent, webhooksFor } from './outbox-store.ts'

export class Outbox {
  readonly #database: Database
  readonly #clock: Clock
  readonly #filled: () => void
  #telling = false

  /** `filled` is called when events are there for good. */
  constructor(database: Database, clock: Clock, filled: () => void) {
    this.#database = database
    this.#clock = clock
    this.#filled = filled
  }

  listen(events: EventBus): void {
    for (const name of WEBHOOK_EVENTS) events.on(name, (transaction, data) => this.#take(transaction, name, data))
  }

  async #take<N extends EventName>(transaction: Transaction, type: N, data: DomainEvents[N]): Promise<void> {
    const event = eventOf(type, data, this.#clock.now())
    await insertEvent(transaction, event)
    for (const webhook of await webhooksFor(transaction, type)) await insertDelivery(transaction, webhook, event)
    this.#tell()
  }

  /** Writes are done one after the other: one that changes nothing is over when the transaction of the event is. */
  #tell(): void {
    if (this.#telling) return
    this.#telling = true
    const told = this.#database.write(async () => {
      this.#telling = false
    })
    told.then(this.#filled, () => {
      this.#telling = false // the database is closed; the next start finds what is due
    })
  }
}

export function eventOf(type: string, data: object, now: number): StoredEvent {
  const timestamp = new Date(now).toISOString()
  return { id: generateId('evt'), type, body: JSON.stringify({ type, timestamp, data }), created_at: timestamp }
}
