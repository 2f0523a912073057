/** Webhooks: addresses that are told of events, each with a signing secret of its own. */
import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { invalid } from '../../src/contract/errors.ts'
import { type WebhookCreate, type WebhookCreated, type WebhookUpdate, webhooks } from '../../src/contract/webhooks.ts'
import type { Change } from '../caller.ts'
import { Resource } from '../crud/service.ts'
import { plainAddress } from '../outbound/address.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import { type StoredWebhook, webhookRecords } from './store.ts'

type WebhookInput = Static<typeof WebhookCreate> | Static<typeof WebhookUpdate>

export class WebhooksService extends Resource<StoredWebhook, WebhookInput> {
  constructor(database: Database, vault: Vault) {
    super(database, webhooks, webhookRecords, {
      prepare: async (record, given, { current }) => {
        plainAddress('url', record.url)
        if (current) return record
        return { ...record, secret: vault.seal((given as { secret: string }).secret, `${record.id}/secret`) }
      },
      label: ({ url }) => url,
    })
  }

  /** Creates a webhook and shows its secret, this once. */
  async createWithSecret(change: Change, input: Static<typeof WebhookCreate>): Promise<Static<typeof WebhookCreated>> {
    const secret = input.secret ?? `whsec_${randomBytes(32).toString('base64')}`
    const size = Buffer.from(secret.slice('whsec_'.length), 'base64').length
    if (size < 24 || size > 64) throw invalid('secret', 'must hold 24 to 64 bytes')
    return this.create(change, { ...input, secret }, { secret })
  }
}
