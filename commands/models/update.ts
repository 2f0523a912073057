import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(modelTopic, [
  {
    command: 'cadre models update Claude --pricing input_per_million=3,output_per_million=15',
    description: 'Set the price of a million tokens',
  },
  { command: 'cadre models update Claude --api-key null', description: 'Remove the API key' },
])
