/** Evaluations: test cases for something that exists. */
import type { Static } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import {
  type EvaluationCreate,
  type EvaluationUpdate,
  evaluations,
  MAX_EVALUATION_BYTES,
  MAX_TEST_CASES,
  type ScorerSettings,
} from '../../src/contract/families/evaluations.ts'
import type { ChangeContext } from '../core/caller.ts'
import { Resource } from '../crud/resource.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Reference } from '../store/links.ts'
import type { RunExecutor } from './run-executor.ts'
import { deleteRuns } from './run-store.ts'
import { checkJson } from './score-json.ts'
import { evaluationRecords, type StoredEvaluation } from './store.ts'
import type { Targets } from './targets.ts'

type EvaluationInput = Static<typeof EvaluationCreate> | Static<typeof EvaluationUpdate>
export interface EvaluationsDependencies {
  database: Database
  models: ModelsService
  targets: Targets
  engine: RunExecutor
}

export class EvaluationsService extends Resource<StoredEvaluation, EvaluationInput> {
  constructor({ database, models, targets, engine }: EvaluationsDependencies) {
    super(database, evaluations, evaluationRecords, {
      prepare: async (record, _, { transaction, current }) => {
        const { type, target_id } = record
        const moved = current === undefined || current.type !== type || current.target_id !== target_id
        if (moved && target_id !== null && !(await targets[type].exists(transaction, target_id)))
          throw createValidationError('target_id', `there is no ${type.replace('_', ' ')} "${target_id}"`)
        const judges = createJudgeResolver(transaction, models)
        const scorers =
          record.scorers.length > 0 ? await normalizeScorers(record.scorers, 'scorers', judges) : [{ type: 'contains' as const }]
        const test_cases: StoredEvaluation['test_cases'] = []
        for (const [index, one] of record.test_cases.entries())
          test_cases.push(
            one.scorers ? { ...one, scorers: await normalizeScorers(one.scorers, `test_cases.${index}.scorers`, judges) } : one,
          )
        checkExpectations(scorers, test_cases)
        return { ...record, scorers, test_cases }
      },
      getReferences: listReferences,
      beforeRemove: async (transaction, { id }) => deleteRuns(transaction, id),
      afterRemove: async ({ id }) => engine.stopRuns(id),
    })
  }

  /** Adds test cases behind those there are, whoever else does so at the same time. */
  async append(change: ChangeContext, id: string, test_cases: Static<typeof EvaluationCreate>['test_cases']): Promise<StoredEvaluation> {
    return this.update(change, id, (current) => {
      const all = [...current.test_cases, ...test_cases]
      if (all.length > MAX_TEST_CASES || JSON.stringify(all).length > MAX_EVALUATION_BYTES)
        throw createValidationError(
          'test_cases',
          `an evaluation has at most ${MAX_TEST_CASES} test cases, and ${MAX_EVALUATION_BYTES / 2 ** 20} MB of them`,
          'Make another evaluation of these.',
        )
      return { test_cases: all }
    })
  }
}

/** A pattern or JSON that cannot be read would fail in every run. */
function checkExpectations(scorers: readonly ScorerSettings[], cases: StoredEvaluation['test_cases']): void {
  for (const [index, { scorers: own = scorers, expected_output }] of cases.entries()) {
    if (expected_output === undefined) continue
    const field = `test_cases.${index}.expected_output`
    if (own.some(({ type }) => type === 'json'))
      requireValid(() => checkJson(expected_output), field, 'is not JSON that the scorer json can compare with')
    if (own.some(({ type }) => type === 'regex'))
      requireValid(() => new RegExp(expected_output, 'u'), field, 'is not a regular expression, which the scorer regex needs')
  }
}

function requireValid(read: () => unknown, field: string, problem: string): void {
  try {
    read()
  } catch (error) {
    throw createValidationError(field, problem, (error as Error).message)
  }
}

/** The identifier of the model that is named in a field. */
type ResolveJudge = (named: string, field: string) => Promise<string>

/** Each name is looked up once, however many test cases have it. */
function createJudgeResolver(reader: Reader, models: ModelsService): ResolveJudge {
  const known = new Map<string, string>()
  return async (named, field) => {
    const id = known.get(named) ?? (await models.resolve(reader, named, field))
    known.set(named, id)
    return id
  }
}

/** Scorers in full, with their judges by id. */
async function normalizeScorers(
  list: readonly (ScorerSettings['type'] | ScorerSettings)[],
  field: string,
  judges: ResolveJudge,
): Promise<ScorerSettings[]> {
  const scorers: ScorerSettings[] = []
  for (const [index, scorer] of list.entries()) scorers.push(await normalizeScorer(scorer, `${field}.${index}`, judges))
  return scorers
}

/** The type comes first, so that the judge can be taken out again. */
async function normalizeScorer(
  scorer: ScorerSettings['type'] | ScorerSettings,
  field: string,
  judges: ResolveJudge,
): Promise<ScorerSettings> {
  if (typeof scorer === 'string') return { type: scorer }
  const { type, model_id, ...rest } = scorer
  // A bar that no answer can reach would fail every run; most often it is meant as a percentage.
  if ((rest.threshold ?? 0) > 1 && type !== 'latency' && type !== 'cost')
    throw createValidationError(`${field}.threshold`, 'must be at most 1', 'Scores go from 0 to 1; write 0.9 for 90 %.')
  return { type, ...rest, ...(model_id === undefined ? {} : { model_id: await judges(model_id, `${field}.model_id`) }) }
}

function listReferences({ target_id, scorers, test_cases }: StoredEvaluation): Reference[] {
  const links: Reference[] = target_id === null ? [] : [{ field: 'target_id', target: target_id, detach: { kind: 'value', value: null } }]
  const judges = { scorers, test_cases: test_cases.flatMap((one) => one.scorers ?? []) }
  for (const [field, list] of Object.entries(judges)) {
    for (const target of new Set(list.flatMap(({ model_id }) => model_id ?? [])))
      links.push({ field, target, detach: { kind: 'member', name: 'model_id' } })
  }
  return links
}
