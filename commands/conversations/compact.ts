import { string } from '@oclif/core/flags'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { formatProse } from '../../src/cli/terminal/format-prose.ts'
import { formatCount } from '../../src/cli/terminal/format-quantity.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

export default class ConversationsCompact extends ResourceCommand {
  static override description =
    "Summarize the earlier messages of a conversation with the agent's model.\n\n" +
    'Cadre does this by itself when they no longer fit the context window. No messages are deleted.'
  static override examples = [
    { command: "cadre conversations compact 'Leave in summer'", description: 'By title' },
    {
      command: "cadre conversations compact 'Budget 2027' --instructions 'Keep all figures'",
      description: 'Say what the summary should focus on',
    },
  ]
  static override args = { id: createIdArgument(conversationTopic) }
  static override flags = {
    instructions: string({ description: 'What the summary should focus on.', helpValue: '<text>' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsCompact)
    const { connection, id } = await this.connectTo(conversationTopic, args.id, flags)
    const body = { instructions: flags.instructions }
    const { data } = await call(connection, conversationRoutes.compact, { params: { id }, body })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    this.notify(`Summarized the first ${formatCount(data.summary?.message_count ?? 0, 'message')}.`)
    process.stdout.write(`${formatProse(data.summary?.content ?? '', getOutput(process.stdout))}\n`)
  }
}
