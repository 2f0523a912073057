import { buildConversationTable } from '../../src/cli/conversations/conversation-table.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(
  conversationTopic,
  [
    {
      command: "cadre conversations list --agent 'Handbook helper' --status active",
      description: 'List the active conversations of an agent',
    },
    { command: 'cadre conversations list --mine', description: 'List only your own conversations' },
  ],
  buildConversationTable,
)
