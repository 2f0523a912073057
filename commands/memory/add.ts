import { string } from '@oclif/core/args'
import { string as text } from '@oclif/core/flags'
import { explainUnusedFact } from '../../src/cli/ask/notes/explain-unused-memory.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveName } from '../../src/cli/resources/resolve-references.ts'
import { sanitizeLine } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'

export default class MemoryAdd extends CadreCommand {
  static override description =
    'Store a fact that an agent remembers about you.\n\nA known fact is not stored twice, and a contradicting one replaces it.'
  static override examples = [
    { command: "cadre memory add 'The user works in the Berlin office.' --agent 'Handbook helper'", description: 'Store a fact' },
    {
      command: "cadre memory add 'The user is on leave.' --agent 'Handbook helper' --expires-at 2027-01-31T00:00:00Z",
      description: 'Store a fact that expires',
    },
  ]
  static override args = { fact: string({ required: true, ignoreStdin: true, description: 'The fact, in a sentence or two.' }) }
  static override flags = {
    agent: text({ required: true, description: 'Agent that remembers it, by ID or name.', helpValue: '<text>' }),
    user: text({ description: 'User whom the fact is about (default: you).', helpValue: '<text>' }),
    'expires-at': text({ description: 'Time at which it is deleted (ISO 8601).', helpValue: '<time>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(MemoryAdd)
    const connection = await this.connect(flags)
    const body = {
      agent_id: await resolveName(connection, ['agent'], flags.agent),
      content: args.fact,
      user_id: flags.user,
      expires_at: flags['expires-at'],
    }
    const { data } = await call(connection, memoryRoutes.create, { body })
    this.notify(`Remembered: ${sanitizeLine(data.content)} (${data.id})`)
    const unused = await explainUnusedFact(connection, body.agent_id)
    if (unused !== undefined) this.notify(unused)
    await this.printUnlessTable(data, flags)
  }
}
