/** Webhooks as they are stored; the signing secret is sealed. */
import type { Static } from 'typebox'
import { Webhook } from '../../src/contract/webhooks.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredWebhook = Static<typeof Webhook> & StoredRecord & { secret: string }

export const webhookRecords = new Records<StoredWebhook>({ table: 'webhooks', schema: Webhook, hidden: ['secret'] })
