/** Binds the routes of webhooks, deliveries and the event stream. */
import { webhookRoutes } from '../../src/contract/families/webhooks.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { DeliveriesService } from './delivery-service.ts'
import type { EventLog } from './event-log.ts'
import type { WebhooksService } from './service.ts'

export const bindWebhookRoutes = (webhooks: WebhooksService, deliveries: DeliveriesService, events: EventLog): Binding[] => [
  ...bindCrud(webhookRoutes, webhooks),
  bind(webhookRoutes.create, ({ body, change }) => webhooks.createWithSecret(change, body)),
  bind(webhookRoutes.rotateSecret, ({ params, body, change }) => webhooks.rotateSecret(change, params.id, body)),
  bind(webhookRoutes.deliveries, ({ params, query, change }) => deliveries.list(change.caller, params.id, query as ListQuery)),
  bind(webhookRoutes.delivery, ({ params, change }) => deliveries.get(change.caller, params.id, params.delivery_id)),
  bind(webhookRoutes.redeliver, ({ params, change }) => deliveries.redeliver(change.caller, params.id, params.delivery_id)),
  bind(webhookRoutes.test, ({ params, change }) => deliveries.test(change.caller, params.id)),
  bind(webhookRoutes.events, ({ query, lastEventId }) => events.follow(query, lastEventId)),
]
