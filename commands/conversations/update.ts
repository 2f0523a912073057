import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(conversationTopic, [
  {
    command: "cadre conversations update conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --title 'Leave in summer'",
    description: 'Set the title',
  },
])
