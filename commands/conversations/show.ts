/** Shows one of the conversations. */
import { conversationTopic } from '../../src/cli/topics/conversations.ts'
import { showCommand } from '../../src/cli/verbs/show.ts'

export default showCommand(conversationTopic, [{ command: "cadre conversations show 'Leave in summer'", description: 'By title, with its messages' }])
