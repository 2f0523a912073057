/** Stores webhooks; signing secrets are sealed. */
import type { Static } from 'typebox'
import { Webhook } from '../../src/contract/families/webhooks.ts'
import type { Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredWebhook = Static<typeof Webhook> & StoredRecord & { secret: string; previous_secrets: string }

export const webhookRecords = new Records<StoredWebhook>({ table: 'webhooks', schema: Webhook, hidden: ['secret', 'previous_secrets'] })

/** Disables a webhook unless its URL has changed since the response. */
export async function disableWebhook(transaction: Transaction, id: string, url: string, now: string): Promise<void> {
  const sql = 'UPDATE webhooks SET enabled = 0, version = version + 1, updated_at = ? WHERE id = ? AND url = ? AND enabled = 1'
  await transaction.run(sql, [now, id, url])
}
