/** The interface through which every model call is metered. The usage family implements it. */
import type { Usage } from '../../src/contract/schemas/usage.ts'
import type { Transaction } from '../store/database.ts'

/** The resources and user that a model call is attributed to. */
export interface CallOrigin {
  agent_id?: string | null
  rag_tool_id?: string | null
  prompt_template_id?: string | null
  evaluation_id?: string | null
  user_id?: string | null
  conversation_id?: string | null
  message_id?: string | null
}

export interface MeteredModel {
  /** ID of the model's record, or `minilm`, which has no record. */
  id: string
  /** Price per 1,000 tokens; null if unknown. */
  price: { input: number; output: number } | null
}

export interface ModelCall {
  model: MeteredModel
  kind: 'chat' | 'embedding'
  origin: CallOrigin
  /** Estimated input tokens, used if the provider never reports a count. */
  estimatedInput: number
  /** The largest number of output tokens; null if the request does not limit it. Not used for embeddings, which have none. */
  maxOutput?: number | null | undefined
}

export interface CallUsage {
  input_tokens: number
  output_tokens: number
  cached_tokens?: number
  /** `interrupted`: the daemon stopped before the call ended. */
  status: 'done' | 'failed' | 'aborted' | 'interrupted'
  /** True if the provider reported no counts. */
  estimated: boolean
}

/** The usage of calls as clients see it. */
export function toUsageView({
  input_tokens,
  output_tokens,
  estimated,
}: Pick<CallUsage, 'input_tokens' | 'output_tokens' | 'estimated'>): Usage {
  const [input, output] = [toTokenCount(input_tokens), toTokenCount(output_tokens)]
  const total_tokens = input + output
  // A call that was never charged is no estimate.
  const isEstimated = estimated && total_tokens > 0
  return { input_tokens: input, output_tokens: output, total_tokens, ...(isEstimated ? { estimated: true } : {}) }
}

/** Adds the usage of a call to a total. */
export const addCallUsage = (total: Usage | undefined, call: CallUsage): Usage => {
  const added = toUsageView(call)
  return toUsageView({
    input_tokens: (total?.input_tokens ?? 0) + added.input_tokens,
    output_tokens: (total?.output_tokens ?? 0) + added.output_tokens,
    estimated: (total?.estimated ?? false) || (added.estimated ?? false),
  })
}

/** The usage of a call that is still open in the ledger. */
export interface Settlement {
  entry: string
  call: CallUsage
}

export interface Meter {
  /** Throws BUDGET_EXCEEDED if a blocking threshold is reached. For callers with work to do before the call begins. */
  checkBudget(model: MeteredModel, origin: CallOrigin): Promise<void>
  /**
   * Records a call before it is made, so that a crash cannot lose it, and returns the ledger entry's ID. Checks the budget
   * again: of several calls checked at the same time, only those that fit may begin.
   */
  begin(transaction: Transaction, call: ModelCall): Promise<string>
  /** Like `begin`, but batched and without waiting for the disk (see `Database.writeWithoutFlush`). */
  beginWithoutFlush(call: ModelCall): Promise<string>
  /** Updates the estimated output of an open call, counted if a crash prevents its settlement. */
  estimate(transaction: Transaction, entry: string, outputTokens: number): Promise<void>
  /** Records the usage of a call and returns its cost, or null if the price is unknown. Idempotent. */
  settle(transaction: Transaction, entry: string, call: CallUsage): Promise<number | null>
  /** Settles several calls in one statement. */
  settleAll(transaction: Transaction, settlements: readonly Settlement[]): Promise<void>
}

/** Normalizes counts: some providers report fractions, negative numbers or NaN. */
export const toTokenCount = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0)
