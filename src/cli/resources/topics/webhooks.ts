import { webhookRoutes, webhooks } from '../../../contract/families/webhooks.ts'
import type { Topic } from '../topic.ts'

export const webhookTopic: Topic = {
  command: 'webhooks',
  family: webhooks,
  routes: webhookRoutes,
  columns: ['id', 'url', 'events', 'enabled', 'description'],
  label: 'url',
  getNextStep: ({ id }) => ['Try it', `cadre webhooks test ${id}`],
  references: {},
  oneTimeField: 'secret',
}
