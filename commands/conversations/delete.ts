/** Deletes conversations. */
import { conversationTopic } from '../../src/cli/topics/conversations.ts'
import { deleteCommand } from '../../src/cli/verbs/delete.ts'

export default deleteCommand(conversationTopic, [{ command: "cadre conversations delete 'Leave in summer'", description: 'With its messages' }])
