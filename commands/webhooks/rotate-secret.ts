/** Gives a webhook a new signing secret. */

import { InputReader } from '../../src/cli/input/input-reader.ts'
import { bodyFrom, type FlagSet, fieldsFrom, flagsFrom } from '../../src/cli/input/schema-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { titleOf } from '../../src/cli/resources/topic.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { call } from '../../src/client/call.ts'
import { WebhookRotate, webhookRoutes } from '../../src/contract/families/webhooks.ts'

const fields = fieldsFrom(WebhookRotate)

export default class WebhooksRotateSecret extends CadreCommand {
  static override description =
    'Give a webhook a new signing secret, which is shown this once.\n\nThe secret before it signs as well for a day, so that the receiver can change over.'
  static override examples = [
    { command: 'cadre webhooks rotate-secret https://hooks.example.com/cadre', description: 'By address' },
    {
      command: 'cadre webhooks rotate-secret https://hooks.example.com/cadre --overlap-hours 0',
      description: 'When others know the old one',
    },
  ]
  static override args = { id: ownArgument(webhookTopic) }
  static override flags: FlagSet = flagsFrom(fields)

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksRotateSecret)
    const body = await bodyFrom(fields, flags, new InputReader())
    const connection = await this.connect(flags)
    const params = { id: await resolveOwn(connection, webhookTopic, args.id as string) }
    const { data } = await call(connection, webhookRoutes.rotateSecret, { params, body })
    this.narrate(`Changed the secret of webhook ${titleOf(webhookTopic, data)}.`)
    await this.print({ data }, flags)
    this.narrate('Keep the secret: it is not shown again.')
  }
}
