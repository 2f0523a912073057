/** Stores events and deliveries. A delivery is pending while next_attempt_at is set. */
import { Delivery, DeliveryDetails } from '../../src/contract/families/webhooks.ts'
import { generateId } from '../core/identifiers.ts'
import { type Database, type DatabaseReader, listColumn, runLater, type Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export interface StoredEvent {
  id: string
  type: string
  /** The request body as sent: serializing it again could break its signature. */
  body: string
  created_at: string
}

/** An event with its position in the order of events. */
export type PositionedEvent = StoredEvent & { position: number }

const { body: _, ...stored } = DeliveryDetails.properties
/** `step` counts the attempts since the schedule was last restarted, `attempts` all of them. */
export type StoredDelivery = Omit<DeliveryDetails, 'body'> & StoredRecord & { step: number }

export const deliveryRecords = new Records<StoredDelivery>({
  table: 'deliveries',
  schema: { ...DeliveryDetails, properties: stored } as typeof DeliveryDetails,
  hidden: ['step', 'updated_at'],
})
export const LIST_COLUMNS: readonly string[] = Object.keys(Delivery.properties)

export async function insertEvent(transaction: Transaction, { id, type, body, created_at }: StoredEvent): Promise<void> {
  await runLater(transaction, 'INSERT INTO events (id, type, body, created_at) VALUES (?, ?, ?, ?)', [id, type, body, created_at])
}

export async function findEvent(reader: DatabaseReader, id: string): Promise<StoredEvent | undefined> {
  return reader.get<StoredEvent>('SELECT id, type, body, created_at FROM events WHERE id = ?', [id])
}

export async function listEventsAfter(
  reader: DatabaseReader,
  position: number,
  types: readonly string[],
  limit: number,
): Promise<PositionedEvent[]> {
  return reader.all<PositionedEvent>(
    `SELECT position, id, type, body, created_at FROM events
     WHERE position > ? AND type IN (SELECT value FROM json_each(?)) ORDER BY position LIMIT ?`,
    [position, JSON.stringify(types), limit],
  )
}

export async function getLastPosition(reader: DatabaseReader): Promise<number> {
  const [last] = await reader.all<{ position: number }>('SELECT position FROM events ORDER BY position DESC LIMIT 1')
  return last?.position ?? 0
}

export const listSubscribedWebhooks = (reader: DatabaseReader, type: string): Promise<string[]> =>
  listColumn(
    reader,
    'SELECT id FROM webhooks WHERE enabled = 1 AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?) ORDER BY id',
    [type],
  )

/** Inserts a delivery that is due at the time of the event. `step` skips entries of the retry schedule. */
export async function insertDelivery(
  transaction: Transaction,
  webhookId: string,
  { id, type, created_at }: StoredEvent,
  step = 0,
): Promise<string> {
  const deliveryId = generateId('dlv')
  await runLater(
    transaction,
    `INSERT INTO deliveries
       (id, webhook_id, event_id, event, status, attempts, step, next_attempt_at, history, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'pending', 0, ?, ?, '[]', ?, ?)`,
    [deliveryId, webhookId, id, type, step, created_at, created_at, created_at],
  )
  return deliveryId
}

/** Lists enabled webhooks with pending deliveries, except active ones, and the earliest due time of these deliveries. */
export async function listPendingWebhooks(
  reader: DatabaseReader,
  active: readonly string[],
): Promise<{ webhook_id: string; due: string }[]> {
  const rows = await reader.all<{ webhook_id: string; due: string | null }>(
    `SELECT webhooks.id AS webhook_id, (
       SELECT next_attempt_at FROM deliveries
       WHERE webhook_id = webhooks.id AND next_attempt_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))
       ORDER BY next_attempt_at LIMIT 1
     ) AS due FROM webhooks WHERE enabled = 1`,
    [JSON.stringify(active)],
  )
  return rows.flatMap(({ webhook_id, due }) => (due === null ? [] : [{ webhook_id, due }]))
}

/** Lists the due deliveries of a webhook, oldest first. */
export async function listDueDeliveries(
  reader: DatabaseReader,
  webhookId: string,
  now: string,
  active: readonly string[],
  limit: number,
): Promise<string[]> {
  const sql = `SELECT id FROM deliveries WHERE webhook_id = ? AND next_attempt_at <= ? AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY next_attempt_at LIMIT ?`
  return listColumn(reader, sql, [webhookId, now, JSON.stringify(active), limit])
}

/** Deliveries that wait for their first or next attempt. */
export async function countPendingDeliveries(reader: DatabaseReader): Promise<number> {
  const [row] = await reader.all<{ total: number }>('SELECT COUNT(*) AS total FROM deliveries WHERE next_attempt_at IS NOT NULL')
  return row?.total ?? 0
}

export async function deleteDeliveries(transaction: Transaction, webhookId: string): Promise<void> {
  await transaction.run('DELETE FROM deliveries WHERE webhook_id = ?', [webhookId])
}

/** Rows deleted per transaction, so that other writes are not delayed. */
const DELETE_BATCH_SIZE = 1_000

/** Deletes all events and deliveries from before a time. */
export async function deleteEventsBefore(database: Database, time: string): Promise<void> {
  for (const table of ['deliveries', 'events']) {
    const sql = `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE created_at < ? LIMIT ?)`
    while ((await database.write((transaction) => transaction.run(sql, [time, DELETE_BATCH_SIZE]))) === DELETE_BATCH_SIZE);
  }
}
