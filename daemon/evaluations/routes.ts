/** Routes of evaluations. */
import { evaluationRoutes } from '../../src/contract/evaluations.ts'
import { bindCrud } from '../crud/routes.ts'
import type { Binding } from '../http/binding.ts'
import type { EvaluationsService } from './service.ts'

export const evaluationBindings = (evaluations: EvaluationsService): Binding[] => bindCrud(evaluationRoutes, evaluations)
