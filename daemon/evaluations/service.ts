/** Evaluations: test cases for something that exists. */
import type { Static } from 'typebox'
import { invalid } from '../../src/contract/errors.ts'
import { type EVALUATION_TYPES, type EvaluationCreate, type EvaluationUpdate, evaluations, type ScorerSettings } from '../../src/contract/evaluations.ts'
import { Resource } from '../crud/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database, Reader } from '../store/database.ts'
import { evaluationRecords, type StoredEvaluation } from './store.ts'

type EvaluationInput = Static<typeof EvaluationCreate> | Static<typeof EvaluationUpdate>
type EvaluationType = (typeof EVALUATION_TYPES)[number]

export type Targets = Record<EvaluationType, { exists(reader: Reader, id: string): Promise<boolean> }>

export class EvaluationsService extends Resource<StoredEvaluation, EvaluationInput> {
  constructor(database: Database, models: ModelsService, targets: Targets) {
    super(database, evaluations, evaluationRecords, {
      prepare: async (record, given, { transaction, current }) => {
        const { type, target_id } = record
        const moved = current === undefined || current.type !== type || current.target_id !== target_id
        if (moved && target_id !== null && !(await targets[type].exists(transaction, target_id)))
          throw invalid('target_id', `there is no ${type.replace('_', ' ')} "${target_id}"`)
        const scorers = record.scorers.length > 0 ? record.scorers.map(spelledOut) : [{ type: 'contains' as const }]
        const test_cases = record.test_cases.map((one) => (one.scorers ? { ...one, scorers: one.scorers.map(spelledOut) } : one))
        if (given.scorers || given.test_cases) await requireJudges(transaction, models, [...scorers, ...test_cases.flatMap((one) => one.scorers ?? [])])
        return { ...record, scorers, test_cases }
      },
      references: ({ target_id }) => (target_id === null ? [] : [{ field: 'target_id', target: target_id, detach: { kind: 'value', value: null } }]),
    })
  }
}

const spelledOut = (scorer: ScorerSettings['type'] | ScorerSettings): ScorerSettings => (typeof scorer === 'string' ? { type: scorer } : scorer)

async function requireJudges(reader: Reader, models: ModelsService, scorers: readonly ScorerSettings[]): Promise<void> {
  for (const id of new Set(scorers.flatMap(({ model_id }) => model_id ?? []))) await models.resolve(reader, id, 'scorers.model_id')
}
