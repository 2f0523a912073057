/** The summed usage of calls. */

export interface UsageSums {
  calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  /** Tokens of calls with an unknown price. */
  unpriced_tokens: number
  /** Tokens of calls whose provider did not report usage. */
  estimated_tokens: number
  cost: number
}

export const ZERO_USAGE: UsageSums = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  unpriced_tokens: 0,
  estimated_tokens: 0,
  cost: 0,
}

export const addSums = (a: UsageSums, b: UsageSums): UsageSums => ({
  calls: a.calls + b.calls,
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  unpriced_tokens: a.unpriced_tokens + b.unpriced_tokens,
  estimated_tokens: a.estimated_tokens + b.estimated_tokens,
  cost: a.cost + b.cost,
})
