import { string } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveReferences } from '../../src/cli/resources/resolve-references.ts'
import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { fetchList } from '../../src/cli/resources/verbs/list.ts'
import { formatJsonLine } from '../../src/cli/terminal/render.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'
import { MAX_LIMIT } from '../../src/contract/schemas/list-query.ts'

export default class MemoryExport extends CadreCommand {
  static override description = 'Print memories as JSON Lines, which memory import reads.'
  static override examples = [{ command: 'cadre memory export > memories.jsonl', description: 'Export your memories' }]
  static override flags = {
    agent: string({ description: 'Only those of this agent, by ID or name.', helpValue: '<text>' }),
    user: string({ description: 'Only those of this user.', helpValue: '<text>' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(MemoryExport)
    const connection = await this.connect(flags)
    const given = { agent_id: flags.agent, user_id: flags.user, limit: MAX_LIMIT, order: 'asc' }
    const query = await resolveReferences(connection, memoryTopic.references, given)
    const { data } = await fetchList(connection, memoryRoutes.list, {}, query, true)
    for (const memory of data) process.stdout.write(`${formatJsonLine(memory)}\n`)
  }
}
