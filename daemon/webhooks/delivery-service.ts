/** Lists deliveries of webhooks, sends them again and tests webhooks. */
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import { type DeliveryDetails, TEST_EVENT } from '../../src/contract/families/webhooks.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller } from '../core/caller.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader } from '../store/database.ts'
import type { Page } from '../store/records.ts'
import type { Dispatcher } from './dispatcher.ts'
import { createEvent } from './outbox.ts'
import { deliveryRecords, findEvent, insertDelivery, insertEvent, LIST_COLUMNS, type StoredDelivery } from './outbox-store.ts'
import { RETRY_DELAYS } from './retry-schedule.ts'
import type { WebhooksService } from './service.ts'

interface DeliveriesDependencies extends Shared<'database' | 'clock'> {
  webhooks: WebhooksService
  dispatcher: Dispatcher
}

export function createDeliveriesService({ database, webhooks, dispatcher, clock }: DeliveriesDependencies) {
  async function list(caller: Caller, webhookId: string, query: ListQuery): Promise<Page<StoredDelivery>> {
    await webhooks.require(database, caller, webhookId)
    return deliveryRecords.list(database, query, { webhook_id: webhookId }, LIST_COLUMNS)
  }

  async function get(caller: Caller, webhookId: string, id: string): Promise<DeliveryDetails> {
    await webhooks.require(database, caller, webhookId)
    const { version: _, step, updated_at, ...delivery } = await requireDelivery(database, webhookId, id)
    const event = await findEvent(database, delivery.event_id)
    return { ...delivery, body: JSON.parse(event?.body ?? '{}') }
  }

  /** Restarts the retry schedule with an immediate attempt. */
  async function redeliver(caller: Caller, webhookId: string, id: string): Promise<DeliveryDetails> {
    const requestedAt = await database.write(async (transaction) => {
      const webhook = await webhooks.require(transaction, caller, webhookId)
      const delivery = await requireDelivery(transaction, webhookId, id)
      if (!webhook.enabled)
        throw new CadreError('CONFLICT', 'The webhook is disabled.', {
          hint: `Enable it first: cadre webhooks update ${webhookId} --enabled`,
        })
      const now = new Date(clock.now()).toISOString()
      await deliveryRecords.update(transaction, { ...delivery, status: 'pending', step: 0, next_attempt_at: now, updated_at: now })
      return now
    })
    await dispatcher.deliver(id, webhookId)
    // A running attempt may have been stored before the restart of the schedule: then the delivery is still due.
    if ((await requireDelivery(database, webhookId, id)).next_attempt_at === requestedAt) await dispatcher.deliver(id, webhookId)
    return get(caller, webhookId, id)
  }

  /** Makes a single attempt without retries: the caller sees the outcome. */
  async function test(caller: Caller, webhookId: string): Promise<DeliveryDetails> {
    const id = await database.write(async (transaction) => {
      const { url } = await webhooks.require(transaction, caller, webhookId)
      const event = createEvent(TEST_EVENT, { webhook_id: webhookId, url, message: 'A test of this webhook, sent manually.' }, clock.now())
      await insertEvent(transaction, event)
      return insertDelivery(transaction, webhookId, event, RETRY_DELAYS.length)
    })
    await dispatcher.deliver(id, webhookId)
    return get(caller, webhookId, id)
  }

  return { list, get, redeliver, test }
}

export type DeliveriesService = ReturnType<typeof createDeliveriesService>

async function requireDelivery(reader: DatabaseReader, webhookId: string, id: string): Promise<StoredDelivery> {
  const delivery = await deliveryRecords.get(reader, id, { webhook_id: webhookId })
  if (!delivery) throw createNotFoundError('delivery', id)
  return delivery
}
