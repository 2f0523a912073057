import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(modelTopic, [
  { command: "cadre models delete 'Local Llama' --force", description: 'Delete a model; its agents use the default model' },
])
