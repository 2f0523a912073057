import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(promptTopic, [{ command: 'cadre prompts show support', description: 'Show a template by name' }])
