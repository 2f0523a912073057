/** The port through which every call of a model is counted: usage stands behind it, and whoever calls a model knows only this. */
import type { Transaction } from '../store/database.ts'

/** On whose behalf a model is called. */
export interface CallOrigin {
  agent_id?: string
  rag_tool_id?: string
  prompt_template_id?: string
  evaluation_id?: string
  user_id?: string
  conversation_id?: string
  message_id?: string
}

export interface MeteredModel {
  /** Of the model's record; minilm has none and goes by its name. */
  id: string
  /** Price of 1,000 tokens, null where it is not known. */
  price: { input: number; output: number } | null
}

export interface ModelCall {
  model: MeteredModel
  kind: 'chat' | 'embedding'
  origin: CallOrigin
  /** What the call is going to read, as far as we can tell: counted if nobody ever tells better. */
  estimatedInput: number
}

export interface CallUsage {
  input_tokens: number
  output_tokens: number
  cached_tokens?: number
  /** Interrupted: the daemon ended before the call did. */
  status: 'done' | 'failed' | 'aborted' | 'interrupted'
  /** Counted by us, because the provider did not. */
  estimated: boolean
}

/** What a call took that is still open in the ledger. */
export interface Settlement {
  entry: string
  call: CallUsage
}

export interface Meter {
  /** Throws BUDGET_EXCEEDED where a threshold that blocks is reached: for whoever has something to do before the call begins. */
  checkBudget(model: MeteredModel, origin: CallOrigin): Promise<void>
  /**
   * Enters a call before it is made, so that not even a kill loses it. Gives the entry's id. Throws BUDGET_EXCEEDED too:
   * of calls that were admitted side by side, only those get in for which there is room.
   */
  begin(transaction: Transaction, call: ModelCall): Promise<string>
  /** The same for a call that has time and that nobody is told of, as `Database.enter` has it: it is entered a moment later, together with others. */
  beginWithoutFlush(call: ModelCall): Promise<string>
  /** What an open call has written so far, as far as we can tell: counted if a kill keeps it from being settled. */
  estimate(transaction: Transaction, entry: string, outputTokens: number): Promise<void>
  /** Says what a call took; gives its cost, null where the price is not known. Said again, it changes nothing and gives the cost it had. */
  settle(transaction: Transaction, entry: string, call: CallUsage): Promise<number | null>
  /** The same for several at once, which costs little more than for one. */
  settleAll(transaction: Transaction, settlements: readonly Settlement[]): Promise<void>
}

/** What a call costs, null where the price is not known. Cached input is counted at the full price: what providers take off for it is not known here, and a line that blocks should not block too late. */
export function computeCost(price: MeteredModel['price'], { input_tokens, output_tokens }: CallUsage): number | null {
  return price === null ? null : roundMoney((toTokenCount(input_tokens) * price.input + toTokenCount(output_tokens) * price.output) / 1000)
}

/** Providers have been seen to count in fractions, below zero and not at all. */
export const toTokenCount = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0)

/**
 * Sums of floating-point prices end in stray digits: eight times 0.1 is less than 0.8. Twelve digits are more than any
 * price has and fewer than the error reaches, also after a million additions.
 */
export const roundMoney = (amount: number): number => Number(amount.toPrecision(12))
