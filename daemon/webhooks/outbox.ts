/** The transactional outbox: stores events and deliveries in the transaction that caused them. */
import { WEBHOOK_EVENTS } from '../../src/contract/webhook-events.ts'
import type { Clock } from '../async/clock.ts'
import type { EventBus } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database } from '../store/database.ts'
import { insertDelivery, insertEvent, listSubscribedWebhooks, type StoredEvent } from './outbox-store.ts'

/** `onFilled` is called after events are committed. */
export function fillOutbox(events: EventBus, database: Database, clock: Clock, onFilled: () => void): void {
  let isNotifying = false
  /** Writes run one after the other, so an empty one ends after the transaction of the event. */
  const notify = () => {
    if (isNotifying) return
    isNotifying = true
    const committed = database.write(async () => {
      isNotifying = false
    })
    committed.then(onFilled, () => {
      isNotifying = false // the database is closed; the next start finds due deliveries
    })
  }
  for (const name of WEBHOOK_EVENTS)
    events.on(name, async (transaction, data) => {
      const event = createEvent(name, data, clock.now())
      await insertEvent(transaction, event)
      for (const webhook of await listSubscribedWebhooks(transaction, name)) await insertDelivery(transaction, webhook, event)
      notify()
    })
}

export function createEvent(type: string, data: object, now: number): StoredEvent {
  const timestamp = new Date(now).toISOString()
  return { id: generateId('evt'), type, body: JSON.stringify({ type, timestamp, data }), created_at: timestamp }
}
