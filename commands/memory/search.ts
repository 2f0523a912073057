import { string } from '@oclif/core/args'
import { integer, string as text } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveName } from '../../src/cli/resources/resolve-references.ts'
import { call } from '../../src/client/call.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'

export default class MemorySearch extends CadreCommand {
  static override description = 'Search what an agent remembers, by words and meaning.'
  static override examples = [
    { command: "cadre memory search 'Where do I work?' --agent 'Handbook helper'", description: 'Search your own memories' },
  ]
  static override usage = 'memory search QUERY --agent <text> [flags]'
  static override args = { query: string({ multiple: true, required: true, ignoreStdin: true, description: 'What to search for.' }) }
  static override flags = {
    agent: text({ required: true, description: 'Agent that remembers it, by ID or name.', helpValue: '<text>' }),
    user: text({ description: 'User whose memories to search (default: you).', helpValue: '<text>' }),
    limit: integer({ description: 'Largest number of memories (default: 10).', min: 1, max: 100 }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(MemorySearch)
    const connection = await this.connect(flags)
    const body = {
      agent_id: await resolveName(connection, ['agent'], flags.agent),
      query: args.query.join(' '),
      user_id: flags.user,
      limit: flags.limit,
    }
    const { memories } = (await call(connection, memoryRoutes.search, { body })).data
    if (memories.length === 0 && this.getFormat(flags) === 'table') return this.notify('Nothing is remembered about this.')
    await this.print({ data: memories, columns: ['id', 'content', 'updated_at'] }, flags)
  }
}
