/** Manages evaluations: validates targets, scorers and test cases. */
import type { Static } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import {
  type EvaluationCreate,
  evaluations,
  MAX_EVALUATION_BYTES,
  MAX_TEST_CASES,
  type ScorerSettings,
} from '../../src/contract/families/evaluations.ts'
import type { ChangeContext } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { listNullable, type Reference } from '../store/links.ts'
import type { RunExecutor } from './run-executor.ts'
import { deleteRuns } from './run-store.ts'
import { SCORERS } from './scorers.ts'
import { evaluationRecords, type StoredEvaluation } from './store.ts'
import type { Targets } from './targets.ts'

interface EvaluationsDependencies {
  database: Database
  models: ModelsService
  targets: Targets
  executor: RunExecutor
}

export class EvaluationsService extends Resource<StoredEvaluation, FamilyInput<typeof evaluations>> {
  constructor({ database, models, targets, executor }: EvaluationsDependencies) {
    super(database, evaluations, evaluationRecords, {
      prepare: async (record, _, { transaction, current }) => {
        const { type, target_id } = record
        const hasNewTarget = current === undefined || current.type !== type || current.target_id !== target_id
        if (hasNewTarget && target_id !== null && !(await targets[type].exists(transaction, target_id)))
          throw createValidationError('target_id', `there is no ${type.replace('_', ' ')} "${target_id}"`)
        const normalizeScorers = createScorerNormalizer(transaction, models)
        const scorers = record.scorers.length > 0 ? await normalizeScorers(record.scorers, 'scorers') : [{ type: 'contains' as const }]
        const test_cases: StoredEvaluation['test_cases'] = []
        for (const [index, test] of record.test_cases.entries()) {
          const own = test.scorers && (await normalizeScorers(test.scorers, `test_cases.${index}.scorers`))
          test_cases.push(own ? { ...test, scorers: own } : test)
        }
        checkExpectations(scorers, test_cases)
        return { ...record, scorers, test_cases }
      },
      getReferences: listReferences,
      beforeRemove: async (transaction, { id }) => deleteRuns(transaction, id),
      afterRemove: async ({ id }) => executor.stopRuns(id),
    })
  }

  /** Appends test cases; safe against concurrent appends. */
  async append(change: ChangeContext, id: string, test_cases: Static<typeof EvaluationCreate>['test_cases']): Promise<StoredEvaluation> {
    return this.update(change, id, (current) => {
      const all = [...current.test_cases, ...test_cases]
      if (all.length > MAX_TEST_CASES || JSON.stringify(all).length > MAX_EVALUATION_BYTES)
        throw createValidationError(
          'test_cases',
          `must not exceed ${MAX_TEST_CASES} test cases or ${MAX_EVALUATION_BYTES / 2 ** 20} MB`,
          'Create another evaluation for these test cases.',
        )
      return { test_cases: all }
    })
  }
}

function checkExpectations(scorers: readonly ScorerSettings[], cases: StoredEvaluation['test_cases']): void {
  for (const [index, { scorers: own = scorers, expected_output }] of cases.entries()) {
    if (expected_output === undefined) continue
    const field = `test_cases.${index}.expected_output`
    for (const { type } of own) {
      const scorer = SCORERS[type]
      if ('measure' in scorer || !scorer.expectation) continue
      try {
        scorer.expectation.check(expected_output)
      } catch (error) {
        throw createValidationError(field, scorer.expectation.problem, (error as Error).message)
      }
    }
  }
}

/** Creates a function that normalizes scorers. It resolves each judge once: many test cases may name the same one. */
function createScorerNormalizer(reader: DatabaseReader, models: ModelsService) {
  const judges = new Map<string, string>()
  return async (list: readonly (ScorerSettings['type'] | ScorerSettings)[], field: string): Promise<ScorerSettings[]> => {
    const scorers: ScorerSettings[] = []
    for (const [index, scorer] of list.entries()) {
      const { type, model_id, ...rest }: ScorerSettings = typeof scorer === 'string' ? { type: scorer } : scorer
      // Every run would fail. Usually a percentage was meant.
      if ((rest.threshold ?? 0) > 1 && !('measure' in SCORERS[type]))
        throw createValidationError(`${field}.${index}.threshold`, 'must be at most 1', 'Scores range from 0 to 1: write 0.9 for 90 %.')
      if (model_id !== undefined && !judges.has(model_id))
        judges.set(model_id, await models.resolve(reader, model_id, `${field}.${index}.model_id`))
      // `type` comes first, so that `model_id` can be removed when the judge is deleted.
      scorers.push({ type, ...rest, ...(model_id === undefined ? {} : { model_id: judges.get(model_id) as string }) })
    }
    return scorers
  }
}

function listReferences({ target_id, scorers, test_cases }: StoredEvaluation): Reference[] {
  const links = listNullable({ target_id })
  const judges = { scorers, test_cases: test_cases.flatMap((test) => test.scorers ?? []) }
  for (const [field, list] of Object.entries(judges)) {
    for (const target of new Set(list.flatMap(({ model_id }) => model_id ?? [])))
      links.push({ field, target, detach: { kind: 'member', name: 'model_id' } })
  }
  return links
}
