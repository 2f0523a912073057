/** Manages webhooks and their signing secrets. */
import type { Static } from 'typebox'
import { type WebhookCreate, type WebhookCreated, type WebhookRotate, webhooks } from '../../src/contract/families/webhooks.ts'
import type { ChangeContext } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import { checkHost } from '../outbound/check-address.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import type { Shared } from '../shared-services.ts'
import type { Dispatcher } from './dispatcher.ts'
import { deleteDeliveries } from './outbox-store.ts'
import { chooseSecret, openSecret, rotateSecret, sealSecret } from './signing-secrets.ts'
import { type StoredWebhook, webhookRecords } from './store.ts'

const HOUR = 60 * 60 * 1000
const OVERLAP_HOURS = 24

interface WebhooksDependencies extends Shared<'database' | 'vault' | 'clock'> {
  dispatcher: Dispatcher
}

export class WebhooksService extends Resource<StoredWebhook, FamilyInput<typeof webhooks>> {
  readonly #dependencies: WebhooksDependencies

  constructor(dependencies: WebhooksDependencies) {
    const { database, vault, dispatcher } = dependencies
    super(database, webhooks, webhookRecords, {
      prepare: async (record, input, { current }) => {
        parseHttpUrl('url', record.url, 'Events are signed with the secret of the webhook. Verify the signature in the receiver.')
        requireAllowedHost(record, current)
        const { secret } = input as { secret?: string }
        if (current) return secret === undefined ? record : this.#rotate({ ...record, secret: current.secret }, secret, OVERLAP_HOURS)
        return { ...record, secret: sealSecret(vault, record.id, chooseSecret(secret)), previous_secrets: '[]' }
      },
      getLabel: ({ url }) => url,
      // Sends the pending deliveries of a webhook that was enabled again.
      afterSave: () => dispatcher.wake(),
      beforeRemove: async (transaction, { id }) => deleteDeliveries(transaction, id),
      openSecrets: ({ id, secret }) => ({ secret: openSecret(vault, id, secret) }),
    })
    this.#dependencies = dependencies
  }

  /** The response contains the secret, which cannot be read later. */
  async createWithSecret(change: ChangeContext, input: Static<typeof WebhookCreate>): Promise<Static<typeof WebhookCreated>> {
    const secret = chooseSecret(input.secret)
    return this.create(change, { ...input, secret }, { secret })
  }

  /** The response contains the new secret. The previous one also signs during the overlap. */
  async rotateSecret(change: ChangeContext, id: string, input: Static<typeof WebhookRotate>): Promise<Static<typeof WebhookCreated>> {
    const secret = chooseSecret(input.secret)
    return this.modify(change, id, async (current) => this.#rotate(current, secret, input.overlap_hours ?? OVERLAP_HOURS), { secret })
  }

  #rotate(current: StoredWebhook, secret: string, overlapHours: number): StoredWebhook {
    const { vault, clock } = this.#dependencies
    const now = clock.now()
    return rotateSecret(current, sealSecret(vault, current.id, chooseSecret(secret)), now, now + overlapHours * HOUR)
  }
}

/** Says at once what every delivery would fail with. The addresses of other host names are checked when a delivery is sent. */
function requireAllowedHost({ url, allow_private_network }: StoredWebhook, current: StoredWebhook | undefined): void {
  if (current?.url === url && current.allow_private_network === allow_private_network) return
  checkHost(new URL(url).hostname, allow_private_network)
}
