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

export const AMOUNTS = Object.keys(ZERO_USAGE) as (keyof UsageSums)[]

export const addSums = (a: UsageSums, b: UsageSums): UsageSums =>
  Object.fromEntries(AMOUNTS.map((name) => [name, a[name] + b[name]])) as unknown as UsageSums
