/** Where events wait for their receivers: written in the transaction in which they happen, so that both are kept or neither. */
import { WEBHOOK_EVENTS } from '../../src/contract/webhooks.ts'
import type { DomainEvents, EventBus, EventName } from '../event-bus.ts'
import { newId } from '../identifiers.ts'
import type { Transaction } from '../store/database.ts'
import { insertDelivery, insertEvent, type StoredEvent, webhooksFor } from './outbox-store.ts'

export class Outbox {
  listen(events: EventBus): void {
    for (const name of WEBHOOK_EVENTS) events.on(name, (transaction, data) => this.#take(transaction, name, data))
  }

  async #take<N extends EventName>(transaction: Transaction, type: N, data: DomainEvents[N]): Promise<void> {
    const event = eventOf(type, data, new Date().toISOString())
    await insertEvent(transaction, event)
    for (const webhook of await webhooksFor(transaction, type)) await insertDelivery(transaction, webhook, event)
  }
}

export function eventOf(type: string, data: object, timestamp: string): StoredEvent {
  return { id: newId('evt'), type, body: JSON.stringify({ type, timestamp, data }), created_at: timestamp }
}
