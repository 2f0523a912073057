import { string } from '@oclif/core/args'
import { string as text } from '@oclif/core/flags'
import { explainUnusedFact } from '../../src/cli/ask/notes/explain-unused-memory.ts'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { parseJsonLines } from '../../src/cli/input/json-lines.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveReferences } from '../../src/cli/resources/resolve-references.ts'
import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { formatCount } from '../../src/cli/terminal/format-quantity.ts'
import { call } from '../../src/client/call.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'

export default class MemoryImport extends CadreCommand {
  static override description =
    'Store the memories of a JSON Lines file, as memory export writes it.\n\n' +
    'Each line has at least content. Known facts are not stored twice.'
  static override examples = [
    { command: "cadre memory import memories.jsonl --agent 'Handbook helper'", description: 'Give memories to another agent' },
  ]
  static override args = { file: string({ required: true, ignoreStdin: true, description: 'File to read; - reads stdin.' }) }
  static override flags = {
    agent: text({ description: 'Agent that remembers them (default: the agent of each line).', helpValue: '<text>' }),
    user: text({ description: 'User of the memories (default: the user of each line).', helpValue: '<text>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(MemoryImport)
    const lines = parseJsonLines(await new InputReader().readFile(args.file), args.file)
    const connection = await this.connect(flags)
    const agent = flags.agent === undefined ? {} : await resolveReferences(connection, memoryTopic.references, { agent_id: flags.agent })
    const agents = new Set<string>()
    for (const { value, line } of lines) {
      const { content, agent_id, user_id, expires_at = null } = (value ?? {}) as Record<string, string | null | undefined>
      const body = {
        content,
        expires_at,
        agent_id,
        ...(user_id ? { user_id } : {}),
        ...agent,
        ...(flags.user ? { user_id: flags.user } : {}),
      }
      if (typeof body.content !== 'string' || typeof body.agent_id !== 'string')
        throw new UsageError(`Line ${line} of ${args.file} has no content or no agent_id.`, 'Name the agent with --agent.')
      await call(connection, memoryRoutes.create, { body: body as { content: string; agent_id: string } })
      agents.add(body.agent_id)
    }
    this.notify(`Imported ${lines.length === 1 ? '1 memory' : `${formatCount(lines.length)} memories`}.`)
    for (const id of agents) {
      const unused = await explainUnusedFact(connection, id)
      if (unused !== undefined) this.notify(unused)
    }
  }
}
