/** Sends a test event to a webhook. */
import { CadreCommand } from '../../src/cli/base-command.ts'
import { deliveryText } from '../../src/cli/deliveries.ts'
import { QuietFailure } from '../../src/cli/failure.ts'
import { resolveOwn } from '../../src/cli/references.ts'
import { webhookTopic } from '../../src/cli/topics/webhooks.ts'
import { ownArgument } from '../../src/cli/verbs/show.ts'
import { call } from '../../src/client/call.ts'
import { webhookRoutes } from '../../src/contract/webhooks.ts'

export default class WebhooksTest extends CadreCommand {
  static override description =
    'Send a signed test event to a webhook now, and say what came of it.\n\nIt is sent once, also while the webhook is disabled. Exits 1 when the receiver does not take it.'
  static override examples = [{ command: 'cadre webhooks test https://hooks.example.com/cadre', description: 'By address' }]
  static override args = { id: ownArgument(webhookTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksTest)
    const connection = await this.connect(flags)
    const { data } = await call(connection, webhookRoutes.test, { params: { id: await resolveOwn(connection, webhookTopic, args.id) } })
    this.narrate(deliveryText(data))
    if (this.formatOf(flags) !== 'table') await this.print({ data }, flags)
    if (data.status !== 'delivered') throw new QuietFailure()
  }
}
