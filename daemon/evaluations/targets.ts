/** The interface of evaluation targets: capturing their configuration and answering test cases with it. */
import type { EVALUATION_TYPES } from '../../src/contract/families/evaluations.ts'
import type { Confidence } from '../../src/contract/schemas/confidence.ts'
import type { Citation } from '../../src/contract/schemas/messages.ts'
import type { Usage } from '../../src/contract/schemas/usage.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { Caller } from '../core/caller.ts'
import type { CallOrigin, Settlement } from '../core/meter.ts'
import type { DatabaseReader } from '../store/database.ts'
import type { TestCase } from './run-store.ts'

/** All data that determines the target's answers, as JSON that is stored with the run. */
type TargetConfiguration = Record<string, unknown>

export interface TargetAnswer {
  output: string
  citations: Citation[]
  usage: Usage | null
  /** Null if the price is unknown. */
  cost: number | null
  latency_ms: number
  /** Only of the embedded model. */
  confidence?: Confidence | undefined
  /** Calls to settle in the transaction that stores the result. */
  unsettled: readonly Settlement[]
}

export interface CaseContext {
  /** Attribution of the model calls. */
  origin: CallOrigin
  caller: Caller
  /** Limits concurrency. Called after the preparation; latency is measured from then on. */
  acquire: Acquire
  signal: AbortSignal
}

export type AskTarget = (test: TestCase, use: CaseContext) => Promise<TargetAnswer>

export interface Target {
  exists(reader: DatabaseReader, id: string): Promise<boolean>
  /** Returns the current configuration, or undefined if the target does not exist. */
  getConfiguration(reader: DatabaseReader, id: string): Promise<TargetConfiguration | undefined>
  /** Called once per run. The returned function answers with this configuration even if the target has changed since. */
  prepare(configuration: TargetConfiguration): AskTarget
}

export type Targets = Record<(typeof EVALUATION_TYPES)[number], Target>
