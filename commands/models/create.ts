import { explainMissingKey } from '../../src/cli/models/explain-missing-key.ts'
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(
  modelTopic,
  [
    {
      command: "cadre models create --name 'Local Llama' --provider ollama --model-id llama3.2",
      description: 'Add a model of a local server',
    },
    {
      command: 'cadre models create --name Claude --provider anthropic --model-id claude-sonnet-4-5 --api-key - < key.txt',
      description: 'Add a hosted model and read its API key from stdin',
    },
    {
      command:
        'cadre models create --name Mini --provider openai --model-id gpt-4o-mini --api-key env:OPENAI_API_KEY ' +
        '--pricing input_per_million=0.15,output_per_million=0.6',
      description: 'Set the price of a million tokens, for cadre usage costs',
    },
  ],
  { describeEffect: async (_, model) => explainMissingKey(model) },
)
