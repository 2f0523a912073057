import { integer, string } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { repeatable } from '../../src/cli/input/repeatable-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { paint, stripControlSequences } from '../../src/cli/terminal/color.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { formatJsonLine } from '../../src/cli/terminal/render.ts'
import { followEvents, type WebhookEvent } from '../../src/cli/webhooks/follow-events.ts'
import { forwardEvent } from '../../src/cli/webhooks/forward-event.ts'
import { WEBHOOK_EVENTS } from '../../src/contract/webhook-events.ts'
import { createSigningSecret, validateSecret } from '../../src/webhook-signature.ts'

export default class WebhooksListen extends CadreCommand {
  static override description =
    'Print events as they happen and forward them to a local receiver.\n\n' +
    'Needs no webhook and no open port, and resumes after an interrupted connection without losing events. Forwarded events are signed ' +
    'with --secret, or with a generated secret that is printed at the start.'
  static override examples = [
    { command: 'cadre webhooks listen --events conversation.completed', description: 'Print one type of event' },
    {
      command: 'cadre webhooks listen --forward-to http://localhost:3000/hooks',
      description: 'Forward events to a receiver on this machine',
    },
    { command: 'cadre webhooks listen --after 0 --json', description: 'Print all events of the last 30 days and new ones as JSON Lines' },
  ]
  static override flags = {
    events: string({ ...repeatable, description: 'Event types (default: all).', helpValue: '<a,b>' }),
    'forward-to': string({ description: 'URL to forward events to.', helpValue: '<url>' }),
    secret: string({ description: 'Signing secret: whsec_ followed by base64.', helpValue: '<secret|@file|->', dependsOn: ['forward-to'] }),
    after: integer({ min: 0, description: 'Start after this position in the stream; 0 starts with the oldest event.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(WebhooksListen)
    const types = flags.events?.flatMap((words) => words.split(',').map((word) => word.trim()))
    const unknown = types?.find((type) => !(WEBHOOK_EVENTS as readonly string[]).includes(type))
    if (unknown !== undefined) throw new UsageError(`Unknown event "${unknown}".`, `Use one of: ${WEBHOOK_EVENTS.join(', ')}.`)
    const target = flags['forward-to']
    if (target !== undefined && !/^https?:\/\//i.test(target))
      throw new UsageError(`--forward-to must be an http or https URL, not "${target}".`)
    const secret = await readSigningSecret(flags.secret)
    // The daemon is started only once: if it stops later, that may be intentional.
    let start = flags.start
    const connect = async () => {
      const connection = await this.connect({ ...flags, start })
      start = false
      return connection
    }
    if (target !== undefined) this.notify(`Forwarding to ${target}${flags.secret === undefined ? `, signed with ${secret}` : ''}`)
    const isJson = this.getFormat(flags) !== 'table'
    for await (const event of followEvents({ connect, notify: this.notify, types: types?.join(','), after: flags.after })) {
      process.stdout.write(`${isJson ? formatJsonLine(event) : formatEvent(event)}\n`)
      if (target !== undefined) this.notify(`  ${paint('dim', '→')} ${await forwardEvent(target, secret, event)}`)
    }
  }
}

async function readSigningSecret(value: string | undefined): Promise<string> {
  if (value === undefined) return createSigningSecret()
  const secret = await new InputReader().readSecret(value, 'secret')
  const problem = validateSecret(secret)
  if (problem) throw new UsageError(`--secret ${problem}.`)
  return secret
}

function formatEvent({ type, timestamp, data }: WebhookEvent): string {
  const facts = Object.entries(data).filter(([, value]) => value !== null && typeof value !== 'object')
  const fields = facts.map(([name, value]) => `${paint('dim', `${name}=`, process.stdout)}${String(value)}`)
  return stripControlSequences(
    `${paint('dim', timestamp.slice(11, 19), process.stdout)} ${paint('bold', type, process.stdout)} ${fields.join(' ')}`,
  )
}
