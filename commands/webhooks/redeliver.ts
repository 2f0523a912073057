/** Sends events to a webhook again. */
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { readList } from '../../src/cli/resources/verbs/list.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { QuietFailure, UsageError } from '../../src/cli/terminal/errors.ts'
import { type Delivered, deliveryText } from '../../src/cli/webhooks/format-delivery.ts'
import { call } from '../../src/client/call.ts'
import { webhookRoutes } from '../../src/contract/families/webhooks.ts'

export default class WebhooksRedeliver extends CadreCommand {
  static override description =
    'Deliver events again, whatever became of them.\n\nThey carry the webhook-id they had, so that a receiver that has one already can tell. What fails is tried again on the schedule of a new event; the exit code is 1 then.'
  static override examples = [
    {
      command: 'cadre webhooks redeliver https://hooks.example.com/cadre dlv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
      description: 'One of them',
    },
    { command: 'cadre webhooks redeliver https://hooks.example.com/cadre --failed', description: 'All that it never got' },
  ]
  static override args = {
    id: ownArgument(webhookTopic),
    delivery: string({ ignoreStdin: true, multiple: true, description: 'Identifier of a delivery. May be repeated.' }),
  }
  static override flags = { failed: boolean({ description: 'All deliveries that failed for good.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksRedeliver)
    const named = [args.delivery ?? []].flat() as string[]
    if (named.length === 0 && !flags.failed)
      throw new UsageError('Which delivery?', 'Name one (cadre webhooks deliveries shows them), or all that failed: --failed')
    const connection = await this.connect(flags)
    const id = await resolveOwn(connection, webhookTopic, args.id)
    const failed = flags.failed
      ? await readList(connection, webhookRoutes.deliveries, { id }, { status: 'failed', order: 'asc' }, true)
      : { data: [] }
    const wanted = [...named, ...failed.data.map((delivery) => String(delivery.id))]
    if (wanted.length === 0) return this.narrate('No delivery has failed.')
    const made: Delivered[] = []
    for (const delivery_id of wanted) {
      const { data } = await call(connection, webhookRoutes.redeliver, { params: { id, delivery_id } })
      made.push(data)
      this.narrate(`${data.id}: ${deliveryText(data)}`)
    }
    if (this.formatOf(flags) !== 'table')
      await this.print({ data: made.length === 1 && !flags.failed ? (made[0] as Delivered) : made }, flags)
    if (made.some(({ status }) => status !== 'delivered')) throw new QuietFailure()
  }
}
