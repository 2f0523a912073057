/** Lists the conversations. */
import { withWhose } from '../../src/cli/conversation-owners.ts'
import { conversationTopic } from '../../src/cli/topics/conversations.ts'
import { listCommand } from '../../src/cli/verbs/list.ts'

export default listCommand(
  conversationTopic,
  [
    { command: "cadre conversations list --agent 'Handbook helper' --status active", description: 'What is going on with one agent' },
    { command: 'cadre conversations list --mine', description: 'Without those of others, whom an admin sees too' },
  ],
  withWhose,
)
