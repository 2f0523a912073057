/** Prints events as they happen, and sends them on. */
import { integer, string } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { paint, withoutSteering } from '../../src/cli/terminal/color.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { toJsonLine } from '../../src/cli/terminal/render.ts'
import { type Happening, happenings } from '../../src/cli/webhooks/follow-events.ts'
import { forward } from '../../src/cli/webhooks/forward-event.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/families/webhooks.ts'
import { newSigningSecret, secretProblem } from '../../src/webhook-signature.ts'

export default class WebhooksListen extends CadreCommand {
  static override description =
    'Print events as they happen, and send them on to a receiver of yours.\n\nIt needs no webhook and opens no port. An event comes when a conversation is completed (cadre conversations complete, or nobody has written in it for long), when a run of an evaluation has ended, and when usage crosses a threshold. While the connection is interrupted nothing is missed. What is sent on is signed with a secret that is printed at the beginning, or with your own, and is sent once.'
  static override examples = [
    { command: 'cadre webhooks listen --events conversation.completed', description: 'Look on' },
    { command: 'cadre webhooks listen --forward-to http://localhost:3000/hooks', description: 'Try a receiver on this machine' },
    { command: 'cadre webhooks listen --after 0 --json', description: 'All that happened in the last 30 days and from now on, one a line' },
  ]
  static override flags = {
    events: string({ multiple: true, multipleNonGreedy: true, description: 'Only these events; all when left out.', helpValue: '<a,b>' }),
    'forward-to': string({ description: 'Where to send them on.', helpValue: '<url>' }),
    secret: string({ description: 'What to sign them with: whsec_ and base64.', helpValue: '<secret|@file|->', dependsOn: ['forward-to'] }),
    after: integer({ min: 0, description: 'Begin behind this place of the stream; 0 is the oldest event that is kept.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(WebhooksListen)
    const types = flags.events?.flatMap((words) => words.split(',').map((word) => word.trim()))
    const unknown = types?.find((type) => !(WEBHOOK_EVENTS as readonly string[]).includes(type))
    if (unknown !== undefined) throw new UsageError(`There is no event "${unknown}".`, `Events are ${WEBHOOK_EVENTS.join(', ')}.`)
    const target = flags['forward-to']
    if (target !== undefined && !/^https?:\/\//i.test(target))
      throw new UsageError(`--forward-to takes an http or https address, not "${target}".`)
    const secret = await signingSecret(flags.secret)
    // Only the first time: one that stopped was stopped by somebody.
    let start = flags.start
    const connect = async () => {
      const connection = await this.connect({ ...flags, start })
      start = false
      return connection
    }
    if (target !== undefined) this.narrate(`Sending on to ${target}${flags.secret === undefined ? `, signed with ${secret}` : ''}`)
    const asData = this.formatOf(flags) !== 'table'
    for await (const event of happenings({ connect, narrate: this.narrate, types: types?.join(','), after: flags.after })) {
      process.stdout.write(`${asData ? toJsonLine(event) : eventText(event)}\n`)
      if (target !== undefined) this.narrate(`  ${paint('dim', '→')} ${await forward(target, secret, event)}`)
    }
  }
}

async function signingSecret(given: string | undefined): Promise<string> {
  if (given === undefined) return newSigningSecret()
  const secret = await new InputReader().secret(given, 'secret')
  const problem = secretProblem(secret)
  if (problem) throw new UsageError(`--secret ${problem}.`)
  return secret
}

function eventText({ type, timestamp, data }: Happening): string {
  const facts = Object.entries(data).filter(([, value]) => value !== null && typeof value !== 'object')
  const told = facts.map(([name, value]) => `${paint('dim', `${name}=`, process.stdout)}${String(value)}`)
  return withoutSteering(
    `${paint('dim', timestamp.slice(11, 19), process.stdout)} ${paint('bold', type, process.stdout)} ${told.join(' ')}`,
  )
}
