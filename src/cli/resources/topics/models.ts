/** CLI topic of models. */
import { modelRoutes, models } from '../../../contract/families/models.ts'
import type { Topic } from '../topic.ts'

export const modelTopic: Topic = {
  command: 'models',
  family: models,
  routes: modelRoutes,
  columns: ['id', 'name', 'provider', 'model_id', 'endpoint', 'has_api_key'],
  label: 'name',
  getNextStep: ({ name }) => ['Try it', `cadre models test ${name}`],
  references: {},
  conditionalReferences: { model_id: ({ provider }) => (provider === 'replay' ? ['model'] : []) },
}
