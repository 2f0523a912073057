/** What a scorer said, and the figures of those that hold an answer against a limit. */
import { formatMoney } from '../terminal/format-quantity.ts'

export interface ScorerReport {
  passed?: boolean
  reason?: string
  score?: number | null
  threshold?: number
  latency_ms?: number
  cost?: number
}

/** Of latency and cost a score says little: people know milliseconds and money. */
export function formatLimit({ threshold, latency_ms, cost }: ScorerReport): string | undefined {
  if (threshold === undefined) return undefined
  if (latency_ms !== undefined) return `${latency_ms} ms (at most ${threshold} ms)`
  return cost === undefined ? undefined : `${formatMoney(cost)} (at most ${formatMoney(threshold)})`
}
