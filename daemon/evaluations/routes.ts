import { runRoutes } from '../../src/contract/families/evaluation-runs.ts'
import { evaluationRoutes } from '../../src/contract/families/evaluations.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { RunsService } from './run-service.ts'
import type { EvaluationsService } from './service.ts'

export const bindEvaluationRoutes = (evaluations: EvaluationsService, runs: RunsService): Binding[] => [
  ...bindCrud(evaluationRoutes, evaluations),
  bind(evaluationRoutes.append, ({ params, body, change }) => evaluations.append(change, params.id, body.test_cases)),
  bind(runRoutes.run, ({ params, body, change }) => runs.start(change, params.id, body)),
  bind(runRoutes.results, ({ params, query, change }) => runs.getResults(change.caller, params.id, query)),
  bind(runRoutes.runs, ({ params, query, change }) => runs.list(change.caller, params.id, query as ListQuery)),
  bind(runRoutes.getRun, ({ params, change }) => runs.get(change.caller, params.id, params.run_id)),
  bind(runRoutes.findRun, ({ params, change }) => runs.find(change.caller, params.run_id)),
  bind(runRoutes.cancel, ({ params, change }) => runs.cancel(change, params.id, params.run_id)),
  bind(runRoutes.compare, ({ params, query, change }) => runs.compare(change.caller, params.id, query.a, query.b)),
  bind(runRoutes.runEvents, async ({ params, change }) => runs.streamEvents(change.caller, params.id, params.run_id)),
]
