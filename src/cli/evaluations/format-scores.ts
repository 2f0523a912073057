/** The report of a scorer, and its figures for scorers with a limit. */
import { formatMoney } from '../terminal/format-quantity.ts'

export interface ScorerReport {
  passed?: boolean
  reason?: string
  score?: number | null
  threshold?: number
  latency_ms?: number
  cost?: number
}

/** Formats latency and cost with their limits, which say more than a score. */
export function formatLimit({ threshold, latency_ms, cost }: ScorerReport): string | undefined {
  if (threshold === undefined) return undefined
  if (latency_ms !== undefined) return `${latency_ms} ms (at most ${threshold} ms)`
  return cost === undefined ? undefined : `${formatMoney(cost)} (at most ${formatMoney(threshold)})`
}
