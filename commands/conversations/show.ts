import { boolean } from '@oclif/core/flags'
import { printReply } from '../../src/cli/ask/print-reply.ts'
import {
  findUnfinishedReply,
  formatConversationHeading,
  formatMessage,
  formatSummary,
  getSpeakers,
  pairWithQuestions,
} from '../../src/cli/conversations/format-conversation.ts'
import { getConversation } from '../../src/cli/conversations/get-conversation.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import type { Connection } from '../../src/client/request.ts'
import type { Conversation } from '../../src/contract/families/conversations.ts'

export default class ConversationsShow extends ResourceCommand {
  static override description =
    'Show a conversation with its messages, tool calls and citations.\n\n' +
    'An unfinished reply is shown as far as it is written; use --follow to stream the rest.'
  static override examples = [
    { command: "cadre conversations show 'Leave in summer'", description: 'Show a conversation by title' },
    {
      command: 'cadre conversations show conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --follow',
      description: 'Stream the reply that is being written',
    },
    {
      command: "cadre conversations show 'Leave in summer' --json | jq -r '.messages[-1].content'",
      description: 'Print only the last reply',
    },
  ]
  static override args = { id: createIdArgument(conversationTopic) }
  static override flags = {
    follow: boolean({ char: 'f', description: 'Stream the reply that is being written.' }),
    citations: boolean({ default: true, allowNo: true, description: 'Show the cited passages.' }),
    full: boolean({ description: 'Show whole passages instead of excerpts.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsShow)
    const { connection, id } = await this.connectTo(conversationTopic, args.id, flags)
    const data = await getConversation(connection, id)
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    const unfinished = findUnfinishedReply(data)
    await this.#show(connection, data, flags)
    if (!unfinished) return
    if (!flags.follow) return this.notify(paint('dim', 'This reply is not finished; use --follow to stream the rest.'))
    const question = data.messages.findLast(({ role }) => role === 'user')?.content ?? ''
    await printReply(
      connection,
      { conversation: id, reply: unfinished.id },
      { ...flags, question, quiet: false, json: false, tools: 'leave' },
    )
  }

  async #show(connection: Connection, data: Conversation, flags: { follow: boolean; citations: boolean; full: boolean }): Promise<void> {
    const view = { ...flags, output: getOutput(process.stdout) }
    const speakers = await getSpeakers(connection, data)
    const unfinished = findUnfinishedReply(data)
    const blocks = pairWithQuestions(data.messages).map(({ message, question }) => {
      // --follow prints the unfinished reply from its start.
      const shown = message === unfinished && flags.follow ? { ...message, content: '', tool_calls: [], citations: [] } : message
      return formatMessage(shown, speakers, question, view)
    })
    if (blocks.length === 0) this.notify('This conversation has no messages.')
    const parts = [formatConversationHeading(data, speakers, view), formatSummary(data, view), ...blocks].filter(({ length }) => length > 0)
    process.stdout.write(`${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`)
  }
}
