/** Events and their deliveries as they are stored. */
import { newId } from '../identifiers.ts'
import type { Reader, Transaction } from '../store/database.ts'

export interface StoredEvent {
  id: string
  type: string
  /** Just as it is sent: what is signed must not be written twice. */
  body: string
  created_at: string
}

export async function insertEvent(transaction: Transaction, { id, type, body, created_at }: StoredEvent): Promise<void> {
  await transaction.run('INSERT INTO events (id, type, body, created_at) VALUES (?, ?, ?, ?)', [id, type, body, created_at])
}

/** Webhooks that want an event now. */
export async function webhooksFor(reader: Reader, type: string): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    'SELECT id FROM webhooks WHERE enabled = 1 AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?) ORDER BY id',
    [type],
  )
  return rows.map(({ id }) => id)
}

/** Due from the moment it happened. */
export async function insertDelivery(transaction: Transaction, webhookId: string, { id, type, created_at }: StoredEvent): Promise<void> {
  await transaction.run(
    "INSERT INTO deliveries (id, webhook_id, event_id, event, status, attempts, step, next_attempt_at, history, created_at, updated_at) VALUES (?, ?, ?, ?, 'pending', 0, 0, ?, '[]', ?, ?)",
    [newId('dlv'), webhookId, id, type, created_at, created_at, created_at],
  )
}
