/** Lists the conversations. */
import { withWhose } from '../../src/cli/conversations/owners.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(
  conversationTopic,
  [
    { command: "cadre conversations list --agent 'Handbook helper' --status active", description: 'What is going on with one agent' },
    { command: 'cadre conversations list --mine', description: 'Without those of others, whom an admin sees too' },
  ],
  withWhose,
)
