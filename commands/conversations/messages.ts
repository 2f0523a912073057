import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { createPagingFlags, createQuery, fetchList, formatFooter } from '../../src/cli/resources/verbs/list.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

export default class ConversationsMessages extends ResourceCommand {
  static override description = 'List the messages of a conversation, newest first.'
  static override examples = [
    { command: "cadre conversations messages 'Leave in summer' --order asc --all", description: 'List all messages, oldest first' },
    {
      command: "cadre conversations messages 'Leave in summer' --filter role=assistant --json",
      description: 'Print only the replies, as JSON',
    },
  ]
  static override args = { id: createIdArgument(conversationTopic) }
  static override flags = createPagingFlags(['role', 'created_at'])

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsMessages)
    const { connection, id } = await this.connectTo(conversationTopic, args.id, flags)
    const page = await fetchList(connection, conversationRoutes.messages, { id }, createQuery(flags), flags.all)
    const isTable = this.getFormat(flags) === 'table'
    if (page.data.length === 0 && isTable) return this.notify('This conversation has no messages.')
    await this.print({ data: page.data, columns: ['timestamp', 'role', 'content'] }, flags)
    if (isTable) this.notify(formatFooter(page))
  }
}
