/** Evaluations: test cases for something that exists. */
import type { Static } from 'typebox'
import { invalid } from '../../src/contract/errors.ts'
import { type EvaluationCreate, type EvaluationUpdate, evaluations, type ScorerSettings } from '../../src/contract/evaluations.ts'
import type { Change } from '../caller.ts'
import { Resource } from '../crud/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Reference } from '../store/links.ts'
import type { Engine } from './engine.ts'
import { checkJson } from './json-score.ts'
import { deleteRunsOf } from './run-store.ts'
import { evaluationRecords, type StoredEvaluation } from './store.ts'
import type { Targets } from './targets.ts'

type EvaluationInput = Static<typeof EvaluationCreate> | Static<typeof EvaluationUpdate>
export interface EvaluationsParts {
  database: Database
  models: ModelsService
  targets: Targets
  engine: Engine
}

export class EvaluationsService extends Resource<StoredEvaluation, EvaluationInput> {
  constructor({ database, models, targets, engine }: EvaluationsParts) {
    super(database, evaluations, evaluationRecords, {
      prepare: async (record, _, { transaction, current }) => {
        const { type, target_id } = record
        const moved = current === undefined || current.type !== type || current.target_id !== target_id
        if (moved && target_id !== null && !(await targets[type].exists(transaction, target_id)))
          throw invalid('target_id', `there is no ${type.replace('_', ' ')} "${target_id}"`)
        const spelledOut = (list: readonly (ScorerSettings['type'] | ScorerSettings)[]) =>
          Promise.all(list.map((scorer) => judged(transaction, models, scorer)))
        const scorers = record.scorers.length > 0 ? await spelledOut(record.scorers) : [{ type: 'contains' as const }]
        const test_cases = await Promise.all(record.test_cases.map(async (one) => (one.scorers ? { ...one, scorers: await spelledOut(one.scorers) } : one)))
        checkThresholds(scorers, 'scorers')
        for (const [index, one] of test_cases.entries()) checkThresholds(one.scorers ?? [], `test_cases.${index}.scorers`)
        checkExpectations(scorers, test_cases)
        return { ...record, scorers, test_cases }
      },
      references,
      remove: async (transaction, { id }) => deleteRunsOf(transaction, id),
      removed: async ({ id }) => engine.stopAllOf(id),
    })
  }

  /** Adds test cases behind those there are, whoever else does so at the same time. */
  async append(change: Change, id: string, test_cases: Static<typeof EvaluationCreate>['test_cases']): Promise<StoredEvaluation> {
    return this.update(change, id, (current) => ({ test_cases: [...current.test_cases, ...test_cases] }))
  }
}

/** A pattern or JSON that cannot be read would fail in every run. */
function checkExpectations(scorers: readonly ScorerSettings[], cases: StoredEvaluation['test_cases']): void {
  for (const [index, { scorers: own = scorers, expected_output }] of cases.entries()) {
    if (expected_output === undefined) continue
    const field = `test_cases.${index}.expected_output`
    if (own.some(({ type }) => type === 'json')) checkedBy(() => checkJson(expected_output), field, 'is not JSON that the scorer json can compare with')
    if (own.some(({ type }) => type === 'regex'))
      checkedBy(() => new RegExp(expected_output, 'u'), field, 'is not a regular expression, which the scorer regex needs')
  }
}

/** A bar that no answer can reach would fail every run; most often it is meant as a percentage. */
function checkThresholds(scorers: readonly ScorerSettings[], field: string): void {
  for (const [index, { type, threshold = 0 }] of scorers.entries()) {
    if (threshold > 1 && type !== 'latency' && type !== 'cost')
      throw invalid(`${field}.${index}.threshold`, 'must be at most 1', 'Scores go from 0 to 1; write 0.9 for 90 %.')
  }
}

function checkedBy(read: () => unknown, field: string, problem: string): void {
  try {
    read()
  } catch (error) {
    throw invalid(field, problem, (error as Error).message)
  }
}

/** A scorer in full, with its judge by id. The type comes first, so that the judge can be taken out again. */
async function judged(reader: Reader, models: ModelsService, scorer: ScorerSettings['type'] | ScorerSettings): Promise<ScorerSettings> {
  if (typeof scorer === 'string') return { type: scorer }
  const { type, model_id, ...rest } = scorer
  return { type, ...rest, ...(model_id === undefined ? {} : { model_id: await models.resolve(reader, model_id, 'scorers.model_id') }) }
}

function references({ target_id, scorers, test_cases }: StoredEvaluation): Reference[] {
  const links: Reference[] = target_id === null ? [] : [{ field: 'target_id', target: target_id, detach: { kind: 'value', value: null } }]
  const judges = { scorers, test_cases: test_cases.flatMap((one) => one.scorers ?? []) }
  for (const [field, list] of Object.entries(judges)) {
    for (const target of new Set(list.flatMap(({ model_id }) => model_id ?? []))) links.push({ field, target, detach: { kind: 'member', name: 'model_id' } })
  }
  return links
}
