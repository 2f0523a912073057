/** The figures of a run in words, for reports as HTML and Markdown. */
import type { Run, RunComparison } from '../../contract/families/evaluation-runs.ts'
import { formatMoney } from '../../contract/schemas/currency.ts'
import type { Figure } from '../html/charts.ts'
import { formatCount, formatMilliseconds, formatTokens } from '../terminal/format-quantity.ts'
import { formatPercent } from './format-report.ts'

export function describeRun({ summary }: Run): Figure[] {
  const { total, passed, pass_rate, average_score, latency_p50_ms, latency_p95_ms, tokens, cost, currency, estimated } = summary
  return [
    { name: 'Pass rate', value: formatPercent(pass_rate) },
    { name: 'Passed', value: `${formatCount(passed)} of ${formatCount(total)}` },
    { name: 'Score', value: average_score?.toFixed(2) ?? '–' },
    { name: 'Latency, median', value: formatMilliseconds(latency_p50_ms) },
    { name: 'Latency, 95th percentile', value: formatMilliseconds(latency_p95_ms) },
    { name: 'Tokens', value: formatTokens(tokens, estimated).replace(/ tokens$/, '') },
    { name: 'Cost', value: formatMoney(cost, currency) },
  ]
}

export function describeProblem({ status, error, summary: { errors } }: Run): string | undefined {
  const sentences = [
    status === 'completed' ? '' : `The run is not complete (${status}).`,
    errors > 0 ? `${formatCount(errors, 'result')} could not be run or scored.` : '',
    error ?? '',
  ]
  return sentences.filter(Boolean).join(' ') || undefined
}

export function describeComparison({ better, worse, same, only_a, only_b, p_value, verdict }: Omit<RunComparison, 'changes'>): string {
  const verdicts = { better: 'Better than the baseline', worse: 'Worse than the baseline', same: 'No significant difference' }
  const counts = [`${formatCount(better)} better`, `${formatCount(worse)} worse`, `${formatCount(same)} unchanged`]
  const others = [only_a > 0 ? `${formatCount(only_a)} only in the baseline` : '', only_b > 0 ? `${formatCount(only_b)} new` : '']
  return `${verdicts[verdict]}: ${[...counts, ...others].filter(Boolean).join(', ')} (p = ${p_value.toPrecision(2)}).`
}
