import { InputReader } from '../../src/cli/input/input-reader.ts'
import { createFields, createFlags, type FlagSet, readBody } from '../../src/cli/input/schema-flags.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { formatTitle } from '../../src/cli/resources/topic.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { call } from '../../src/client/call.ts'
import { WebhookRotate, webhookRoutes } from '../../src/contract/families/webhooks.ts'

const fields = createFields(WebhookRotate)

export default class WebhooksRotateSecret extends ResourceCommand {
  static override description =
    'Create a new signing secret for a webhook and show it once.\n\n' +
    'Events are also signed with the old secret for a day, so that the receiver can switch over.'
  static override examples = [
    { command: 'cadre webhooks rotate-secret https://hooks.example.com/cadre', description: 'Rotate the secret of a webhook' },
    {
      command: 'cadre webhooks rotate-secret https://hooks.example.com/cadre --overlap-hours 0',
      description: 'Invalidate a leaked secret immediately',
    },
  ]
  static override args = { id: createIdArgument(webhookTopic) }
  static override flags: FlagSet = createFlags(fields)

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksRotateSecret)
    const body = await readBody(fields, flags, new InputReader())
    const { connection, id } = await this.connectTo(webhookTopic, args.id as string, flags)
    const { data } = await call(connection, webhookRoutes.rotateSecret, { params: { id }, body })
    this.notify(`Rotated the secret of webhook ${formatTitle(webhookTopic, data)}.`)
    await this.print({ data }, flags)
    this.notify('Store the secret now: it is not shown again.')
  }
}
