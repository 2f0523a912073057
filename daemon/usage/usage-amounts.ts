/** What calls took together, and how that is added up. */

export interface UsageAmounts {
  calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  /** Of calls whose price is not known. */
  unpriced_tokens: number
  cost: number
}

export const ZERO_USAGE: UsageAmounts = { calls: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, unpriced_tokens: 0, cost: 0 }

export const addAmounts = (one: UsageAmounts, other: UsageAmounts): UsageAmounts => ({
  calls: one.calls + other.calls,
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  cached_tokens: one.cached_tokens + other.cached_tokens,
  unpriced_tokens: one.unpriced_tokens + other.unpriced_tokens,
  cost: one.cost + other.cost,
})
