import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(promptTopic, [{ command: 'cadre prompts list --type system', description: 'List system prompt templates' }])
