import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { fetchList } from '../../src/cli/resources/verbs/list.ts'
import { ReportedError, UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { formatDelivery } from '../../src/cli/webhooks/format-delivery.ts'
import { call } from '../../src/client/call.ts'
import { type DeliveryDetails, webhookRoutes } from '../../src/contract/families/webhooks.ts'

export default class WebhooksRedeliver extends ResourceCommand {
  static override description =
    'Send deliveries again with the same webhook-id.\n\n' +
    'Failed deliveries are retried on the usual schedule. Exits with 1 if a delivery fails.'
  static override examples = [
    {
      command: 'cadre webhooks redeliver https://hooks.example.com/cadre dlv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
      description: 'Send a delivery again',
    },
    { command: 'cadre webhooks redeliver https://hooks.example.com/cadre --failed', description: 'Send all failed deliveries again' },
  ]
  static override args = {
    id: createIdArgument(webhookTopic),
    delivery: string({ ignoreStdin: true, multiple: true, description: 'ID of a delivery. Repeatable.' }),
  }
  static override flags = { failed: boolean({ description: 'Send all failed deliveries again.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksRedeliver)
    const requestedIds = [args.delivery ?? []].flat() as string[]
    if (requestedIds.length === 0 && !flags.failed)
      throw new UsageError('A delivery is required.', 'List them with cadre webhooks deliveries, or use --failed.')
    const { connection, id } = await this.connectTo(webhookTopic, args.id, flags)
    const failed = flags.failed
      ? await fetchList(connection, webhookRoutes.deliveries, { id }, { status: 'failed', order: 'asc' }, true)
      : { data: [] }
    const ids = [...requestedIds, ...failed.data.map((delivery) => String(delivery.id))]
    if (ids.length === 0) return this.notify('There are no failed deliveries.')
    const deliveries: DeliveryDetails[] = []
    for (const delivery_id of ids) {
      const { data } = await call(connection, webhookRoutes.redeliver, { params: { id, delivery_id } })
      deliveries.push(data)
      this.notify(`${data.id}: ${formatDelivery(data)}`)
    }
    await this.printUnlessTable(deliveries.length === 1 && !flags.failed ? (deliveries[0] as DeliveryDetails) : deliveries, flags)
    if (deliveries.some(({ status }) => status !== 'delivered')) throw new ReportedError()
  }
}
