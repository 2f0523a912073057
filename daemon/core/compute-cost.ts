/** Computes what model calls cost. */
import { type CallUsage, type MeteredModel, toTokenCount } from './meter.ts'

/** Returns null if the price is unknown. Cached input counts at full price: discounts are unknown, and a budget must not block too late. */
export function computeCost(price: MeteredModel['price'], { input_tokens, output_tokens }: CallUsage): number | null {
  return price === null ? null : roundMoney((toTokenCount(input_tokens) * price.input + toTokenCount(output_tokens) * price.output) / 1000)
}

/** Whether calls cost nothing for certain. A call with an unknown price may cost money. */
export const isFree = (price: MeteredModel['price']): boolean => price?.input === 0 && price.output === 0

/**
 * Removes floating-point noise from sums of prices. Twelve digits exceed the precision of any price and stay clear of the
 * error even after a million additions.
 */
export const roundMoney = (amount: number): number => Number(amount.toPrecision(12))
