/** Lists the deliveries of a webhook, or shows one of them. */
import { string } from '@oclif/core/args'
import { option } from '@oclif/core/flags'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { createPagingFlags, createQuery, fetchList, formatFooter } from '../../src/cli/resources/verbs/list.ts'
import { call } from '../../src/client/call.ts'
import { DELIVERY_STATUSES, Delivery, TEST_EVENT, webhookRoutes } from '../../src/contract/families/webhooks.ts'
import { getSortableFields } from '../../src/contract/schemas/list-query.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/webhook-events.ts'

const EVENTS = [...WEBHOOK_EVENTS, TEST_EVENT]

export default class WebhooksDeliveries extends ResourceCommand {
  static override description = 'List the deliveries of a webhook, newest first, or show one delivery.\n\nDeliveries are kept for 30 days.'
  static override examples = [
    { command: 'cadre webhooks deliveries https://hooks.example.com/cadre --status failed', description: 'List failed deliveries' },
    {
      command: 'cadre webhooks deliveries https://hooks.example.com/cadre dlv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
      description: 'Show the attempts and the body of a delivery',
    },
  ]
  static override args = {
    id: createIdArgument(webhookTopic),
    delivery: string({ ignoreStdin: true, description: 'ID of a delivery.' }),
  }
  static override flags = {
    status: option({ options: DELIVERY_STATUSES })({
      description: 'List only deliveries with this status.',
      helpValue: DELIVERY_STATUSES.join('|'),
    }),
    event: option({ options: EVENTS })({ description: 'List only deliveries of this event.', helpValue: '<event>' }),
    ...createPagingFlags(getSortableFields(Delivery)),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksDeliveries)
    const { connection, id } = await this.connectTo(webhookTopic, args.id, flags)
    if (args.delivery !== undefined) {
      const { data } = await call(connection, webhookRoutes.delivery, { params: { id, delivery_id: args.delivery } })
      return this.print({ data }, flags)
    }
    const { status, event } = flags
    const page = await fetchList(connection, webhookRoutes.deliveries, { id }, { ...createQuery(flags), status, event }, flags.all)
    const isTable = this.getFormat(flags) === 'table'
    if (page.data.length === 0 && isTable)
      return this.notify(status || event || flags.filter ? 'No deliveries match.' : 'This webhook has no deliveries.')
    await this.print(
      { data: page.data, columns: ['id', 'event', 'status', 'attempts', 'response_status', 'error', 'next_attempt_at', 'created_at'] },
      flags,
    )
    if (isTable) this.notify(formatFooter(page))
  }
}
