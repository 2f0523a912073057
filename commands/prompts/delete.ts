import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(promptTopic, [
  { command: 'cadre prompts delete support --force', description: 'Delete a template that agents use' },
])
