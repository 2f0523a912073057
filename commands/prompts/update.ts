/** Changes one of the prompt templates. */
import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(promptTopic, [
  { command: 'cadre prompts update support --template @support.md', description: 'A new text, from a file' },
])
