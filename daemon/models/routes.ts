/** Routes of models. */
import { modelRoutes } from '../../src/contract/models.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { ModelsService } from './service.ts'

export const modelBindings = (models: ModelsService): Binding[] => [
  ...bindCrud(modelRoutes, models),
  bind(modelRoutes.discover, () => models.discover()),
  bind(modelRoutes.adopt, ({ body, change }) => models.adopt(change, body)),
  bind(modelRoutes.test, ({ params, change }) => models.test(change.caller, params.id)),
]
