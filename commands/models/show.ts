import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(modelTopic, [
  { command: "cadre models show 'Local Llama'", description: 'Show a model; its API key is never shown' },
])
