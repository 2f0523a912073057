import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(promptTopic, [
  { command: 'cadre prompts update support --template @support.md', description: 'Replace the text with a file' },
])
