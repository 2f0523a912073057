import { modelRoutes, models, type Pricing } from '../../../contract/families/models.ts'
import type { Body } from '../../input/input-reader.ts'
import type { Topic } from '../topic.ts'

/** Shows prices of 1,000 tokens per million, so that prices of all models can be compared. */
function showPricePerMillion(model: Body): Body {
  const pricing = model.pricing as Pricing | null | undefined
  if (!pricing || 'input_per_million' in pricing) return model
  const [input, output] = 'input' in pricing ? [pricing.input, pricing.output] : [pricing.input_per_1k, pricing.output_per_1k]
  // Rounded, because 0.0011 * 1000 is 1.1000000000000001.
  const toMillion = (price: number) => Number((price * 1000).toPrecision(12))
  return { ...model, pricing: { input_per_million: toMillion(input), output_per_million: toMillion(output) } }
}

export const modelTopic: Topic = {
  command: 'models',
  family: models,
  routes: modelRoutes,
  columns: ['id', 'name', 'provider', 'model_id', 'endpoint', 'has_api_key'],
  label: 'name',
  getNextStep: ({ name }) => ['Try it', `cadre models test ${name}`],
  references: {},
  toView: showPricePerMillion,
  conditionalReferences: { model_id: ({ provider }) => (provider === 'replay' ? ['model'] : []) },
}
