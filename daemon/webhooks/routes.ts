/** Routes of webhooks. */
import { webhookRoutes } from '../../src/contract/webhooks.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { WebhooksService } from './service.ts'

export const webhookBindings = (webhooks: WebhooksService): Binding[] => [
  ...bindCrud(webhookRoutes, webhooks),
  bind(webhookRoutes.create, ({ body, change }) => webhooks.createWithSecret(change, body)),
]
