import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'
import { formatDelivery } from '../../src/cli/webhooks/format-delivery.ts'
import { call } from '../../src/client/call.ts'
import { webhookRoutes } from '../../src/contract/families/webhooks.ts'

export default class WebhooksTest extends ResourceCommand {
  static override description =
    'Send a signed test event to a webhook.\n\nThe event is sent once, even if the webhook is disabled. Exits with 1 if the delivery fails.'
  static override examples = [{ command: 'cadre webhooks test https://hooks.example.com/cadre', description: 'Test a webhook by URL' }]
  static override args = { id: createIdArgument(webhookTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksTest)
    const { connection, id } = await this.connectTo(webhookTopic, args.id, flags)
    const { data } = await call(connection, webhookRoutes.test, { params: { id } })
    this.notify(formatDelivery(data))
    await this.printUnlessTable(data, flags)
    if (data.status !== 'delivered') throw new ReportedError()
  }
}
