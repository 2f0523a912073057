/** The reports of scorers, and their figures. */
import { formatMoney } from '../../contract/schemas/currency.ts'

export interface ScorerReport {
  passed?: boolean
  reason?: string
  score?: number | null
  threshold?: number
  latency_ms?: number
  cost?: number
}

/** Formats latency and cost with their limits, which say more than a score. */
export function formatLimit({ threshold, latency_ms, cost }: ScorerReport, currency: string | undefined): string | undefined {
  if (threshold === undefined) return undefined
  if (latency_ms !== undefined) return `${latency_ms} ms (at most ${threshold} ms)`
  return cost === undefined ? undefined : `${formatMoney(cost, currency)} (at most ${formatMoney(threshold, currency)})`
}

/** Formats the score of a result with the threshold it needs. */
export function formatScore(report: ScorerReport, currency: string | undefined): string {
  const { score, threshold } = report
  const limit = formatLimit(report, currency)
  if (limit !== undefined) return limit
  if (score === null || score === undefined) return ''
  return `${score.toFixed(2)}${threshold === undefined ? '' : ` (needs ${threshold})`}`
}

/** Returns the number of results, of those that passed, and the average score of each scorer. */
export function summarizeScorers(results: readonly { scores: Record<string, unknown> }[]) {
  const reports = new Map<string, ScorerReport[]>()
  for (const { scores } of results)
    for (const [name, report] of Object.entries(scores as Record<string, ScorerReport>)) {
      const others = reports.get(name)
      if (others) others.push(report)
      else reports.set(name, [report])
    }
  return [...reports].map(([name, list]) => {
    const values = list.flatMap(({ score }) => score ?? [])
    const average = values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
    return { name, count: list.length, passed: list.filter(({ passed }) => passed !== false).length, average }
  })
}
