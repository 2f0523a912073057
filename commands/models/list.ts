import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(modelTopic, [
  { command: 'cadre models list', description: 'List models' },
  { command: 'cadre models list --provider ollama', description: 'List models of one provider' },
])
