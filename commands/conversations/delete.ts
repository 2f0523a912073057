/** `cadre conversations delete`. */
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(conversationTopic, [
  { command: "cadre conversations delete 'Leave in summer'", description: 'Delete a conversation and its messages' },
])
