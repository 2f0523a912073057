/** What an evaluation asks: each kind of target can say exactly what it is, and answer a test case as that. */
import type { Static } from 'typebox'
import type { Citation, Usage } from '../../src/contract/families/conversations.ts'
import type { EVALUATION_TYPES } from '../../src/contract/families/evaluations.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { Caller } from '../core/caller.ts'
import type { Settlement } from '../core/meter.ts'
import type { Reader } from '../store/database.ts'
import type { TestCase } from './run-store.ts'

export type EvaluationType = (typeof EVALUATION_TYPES)[number]

/** Everything that decides what a target answers, as plain data that is kept with the run. */
export type TargetConfiguration = Record<string, unknown>

export interface TargetAnswer {
  output: string
  citations: Static<typeof Citation>[]
  usage: Static<typeof Usage> | null
  /** Null where the price is not known. */
  cost: number | null
  latency_ms: number
  /** Calls that are to be settled together with the result. */
  unsettled: readonly Settlement[]
}

export interface CaseContext {
  evaluationId: string
  caller: Caller
  /** What may be made ready before is; from here on it is timed. */
  acquire: Acquire
  signal: AbortSignal
}

export type AskTarget = (test: TestCase, use: CaseContext) => Promise<TargetAnswer>

export interface Target {
  exists(reader: Reader, id: string): Promise<boolean>
  /** What it is now; undefined where it is gone. */
  findConfiguration(reader: Reader, id: string): Promise<TargetConfiguration | undefined>
  /** For all test cases of a run: it answers as it was configured then, whatever is changed since. */
  prepare(configuration: TargetConfiguration): AskTarget
}

export type Targets = Record<EvaluationType, Target>
