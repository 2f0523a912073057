import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveReferences } from '../../src/cli/resources/resolve-references.ts'
import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { confirm, yesFlag } from '../../src/cli/terminal/confirm.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { call } from '../../src/client/call.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'

export default class MemoryDelete extends CadreCommand {
  static override description =
    'Delete memories by ID, or all memories of a user with --all.\n\nAsks for confirmation at a terminal; scripts need --yes.'
  static override examples = [
    { command: 'cadre memory delete mem_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --yes', description: 'Delete one in a script' },
    { command: 'cadre memory delete --all', description: 'Delete everything that agents remember about you' },
    { command: 'cadre memory delete --user ada --all --yes', description: 'Delete all memories of a user, as an admin' },
  ]
  static override args = { id: string({ multiple: true, ignoreStdin: true, description: 'ID of the memory. Repeatable.' }) }
  static override flags = {
    all: boolean({ description: 'Delete all memories of a user.' }),
    user: text({ description: 'With --all: the user (default: you).', helpValue: '<text>', dependsOn: ['all'] }),
    agent: text({ description: 'With --all: only those of this agent.', helpValue: '<text>', dependsOn: ['all'] }),
    conversation: text({ description: 'With --all: only those from this conversation.', helpValue: '<id>', dependsOn: ['all'] }),
    yes: yesFlag,
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(MemoryDelete)
    const ids = args.id ?? []
    if (flags.all === ids.length > 0) throw new UsageError('Name the memories to delete, or use --all.', 'To find them: cadre memory list')
    const owner = flags.user === undefined ? 'your memories' : `the memories of ${flags.user}`
    await confirm(
      flags.all ? `Delete all of ${owner}?` : `Delete ${ids.length === 1 ? `memory ${ids[0]}` : `${ids.length} memories`}?`,
      flags.yes,
    )
    const connection = await this.connect(flags)
    if (!flags.all) {
      for (const id of ids) this.notify((await call(connection, memoryRoutes.remove, { params: { id } })).message)
      return
    }
    const given = { agent_id: flags.agent, user_id: flags.user, conversation_id: flags.conversation }
    const query = await resolveReferences(connection, memoryTopic.references, given)
    this.notify((await call(connection, memoryRoutes.clear, { query })).message)
  }
}
