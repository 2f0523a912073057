import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(conversationTopic, [
  { command: "cadre conversations create --agent 'Handbook helper' --user-id ada", description: 'Create a conversation for a user' },
])
