import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { formatTitle } from '../../src/cli/resources/topic.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { call } from '../../src/client/call.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

export default class ConversationsComplete extends ResourceCommand {
  static override description = 'Mark a conversation as completed and notify webhooks.\n\nThe next message reopens it.'
  static override examples = [{ command: "cadre conversations complete 'Leave in summer'", description: 'By title' }]
  static override args = { id: createIdArgument(conversationTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsComplete)
    const { connection, id } = await this.connectTo(conversationTopic, args.id, flags)
    const { data } = await call(connection, conversationRoutes.complete, { params: { id } })
    this.notify(`Completed conversation ${formatTitle(conversationTopic, data)}.`)
    await this.printUnlessTable(data, flags)
  }
}
