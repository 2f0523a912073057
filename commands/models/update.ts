/** `cadre models update`. */
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(modelTopic, [
  {
    command: 'cadre models update Claude --pricing input_per_1k=0.003 --pricing output_per_1k=0.015',
    description: 'Set the price of 1,000 tokens',
  },
  { command: 'cadre models update Claude --api-key null', description: 'Remove the API key' },
])
