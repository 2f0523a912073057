/** Creates the evaluations family: targets, scorers, the run executor, services and routes. */
import type { Meter } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Shared } from '../shared-services.ts'
import { createTargets, type TargetDependencies } from './create-targets.ts'
import { bindEvaluationRoutes } from './routes.ts'
import { RunExecutor } from './run-executor.ts'
import { createRunsService } from './run-service.ts'
import { ScorerToolFactory } from './scorer-tool-factory.ts'
import { EvaluationsService } from './service.ts'

interface EvaluationsFamilyDependencies extends TargetDependencies, Shared<'cluster' | 'events' | 'logger'> {
  embedding: EmbeddingService
  meter: Meter
}

export function createEvaluations(dependencies: EvaluationsFamilyDependencies) {
  const { embedding, models } = dependencies
  const targets = createTargets(dependencies)
  const scorerTools = new ScorerToolFactory(embedding, models)
  const executor = new RunExecutor({ ...dependencies, targets, scorerTools })
  const service = new EvaluationsService({ ...dependencies, targets, executor })
  const runs = createRunsService({ ...dependencies, targets, executor, evaluations: service })
  return {
    service,
    bindings: bindEvaluationRoutes(service, runs),
    executor,
    async close() {
      await Promise.all([executor.close(), scorerTools.close()])
    },
  }
}
