/** Shows one of the prompt templates. */
import { promptTopic } from '../../src/cli/topics/prompts.ts'
import { showCommand } from '../../src/cli/verbs/show.ts'

export default showCommand(promptTopic, [{ command: 'cadre prompts show support', description: 'By name' }])
