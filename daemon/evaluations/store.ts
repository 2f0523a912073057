import type { Static } from 'typebox'
import { Evaluation } from '../../src/contract/families/evaluations.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredEvaluation = Static<typeof Evaluation> & StoredRecord

export const evaluationRecords = new Records<StoredEvaluation>({ table: 'evaluations', schema: Evaluation })
