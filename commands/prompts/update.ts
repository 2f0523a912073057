/** Changes one of the prompt templates. */
import { promptTopic } from '../../src/cli/topics/prompts.ts'
import { updateCommand } from '../../src/cli/verbs/update.ts'

export default updateCommand(promptTopic, [{ command: 'cadre prompts update support --template @support.md', description: 'A new text, from a file' }])
