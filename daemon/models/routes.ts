/** Routes of models. */
import { modelRoutes } from '../../src/contract/models.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { ModelsService } from './service.ts'

export const modelBindings = (models: ModelsService): Binding[] => bindCrud(modelRoutes, models)
