/** Formats the summary, results and comparison of evaluation runs. */
import type { Run, RunComparison, RunResult } from '../../contract/families/evaluation-runs.ts'
import { formatCost, formatMoney } from '../../contract/schemas/currency.ts'
import { formatTrend } from '../terminal/bar-chart.ts'
import { paint } from '../terminal/color.ts'
import { type DiffLine, diffLines } from '../terminal/diff-lines.ts'
import { formatCount, formatMilliseconds, formatTokens } from '../terminal/format-quantity.ts'
import { formatTable, type Output } from '../terminal/table.ts'
import { sanitizeLine, sanitizeText, truncate, wrap } from '../terminal/text.ts'
import { formatScore, type ScorerReport } from './format-scores.ts'

export const formatPercent = (share: number): string => `${(share * 100).toFixed(share > 0.995 && share < 1 ? 1 : 0)} %`
/** Returns `12`, or `12.2` for the second repeat. */
export const formatPosition = (position: number, repeat = 1): string => `${position + 1}${repeat > 1 ? `.${repeat}` : ''}`
/** Test cases that commands show of those that failed or changed. */
export const MAX_SHOWN = 10
const INDENT = '    '
const MAX_TEXT_LINES = 8
const MAX_COLUMNS = 120

export function formatSummary({ status, summary, error, started_at, finished_at }: Run, stream: NodeJS.WriteStream): string[] {
  const { total, passed, failed, errors, pass_rate, average_score, latency_p50_ms, latency_p95_ms, tokens, cost, currency, estimated } =
    summary
  const color = errors + failed === 0 && status === 'completed' ? 'green' : 'red'
  const counts = [`${passed} of ${total} passed`, failed > 0 ? `${failed} failed` : '', errors > 0 ? `${errors} could not be run` : '']
    .filter(Boolean)
    .join(', ')
  const time = started_at && finished_at ? ` in ${formatMilliseconds(Date.parse(finished_at) - Date.parse(started_at))}` : ''
  const figures = [
    average_score === null ? '' : `score ${average_score.toFixed(2)}`,
    latency_p50_ms === null
      ? ''
      : `latency ${formatMilliseconds(latency_p50_ms)} (95th percentile ${formatMilliseconds(latency_p95_ms ?? latency_p50_ms)})`,
    formatTokens(tokens, estimated),
    formatCost(cost, currency),
  ].filter(Boolean)
  return [
    `${paint(color, formatPercent(pass_rate), stream)}  ${counts}${time}${status === 'completed' ? '' : ` (${status})`}`,
    paint('dim', figures.join(' · '), stream),
    ...(error ? [paint('red', sanitizeText(error), stream)] : []),
  ]
}

/** Formats the pass rates of runs, oldest first, as one line. */
export function formatPassRates(runs: readonly Run[], output: Output): string[] {
  const values = runs.map(({ summary }) => summary.pass_rate)
  const note = `${formatPercent(values[0] ?? 0)} to ${formatPercent(values.at(-1) ?? 0)} in ${formatCount(runs.length)} runs`
  return formatTrend({ label: 'Pass rate', values, format: formatPercent, max: 1, note }, output)
}

/** Formats the figures below the progress bar; narrow terminals drop the least important columns. */
export function formatFigures(
  { passed, failed, errors, average_score, latency_p50_ms, latency_p95_ms, tokens, cost, currency }: Run['summary'],
  output: Output,
): string[] {
  const row = {
    passed: formatCount(passed),
    failed: formatCount(failed),
    errors: formatCount(errors),
    score: average_score?.toFixed(2) ?? '–',
    p50: formatMilliseconds(latency_p50_ms),
    p95: formatMilliseconds(latency_p95_ms),
    tokens: formatCount(tokens),
    cost: formatMoney(cost, currency),
  }
  return formatTable([row], Object.keys(row), output).split('\n')
}

/** Formats a result; a failed one with its expected and actual output and the reasons of its scorers. */
export function formatResult(result: RunResult, output: Output, currency?: string): string[] {
  const { columns, stream } = output
  const { passed, error, score, input, expected_output, actual_output, scores, position, repeat } = result
  const mark = passed ? paint('green', '✓', stream) : paint('red', error === null ? '✗' : '!', stream)
  const number = formatPosition(position, repeat)
  const heading = `${mark} ${number}  ${truncate(sanitizeLine(input), Math.min(columns, MAX_COLUMNS) - number.length - 12)}`
  const scoreText = score === null ? '' : paint('dim', `  ${score.toFixed(2)}`, stream)
  if (passed) return [heading + scoreText]
  const reports = Object.entries(scores as Record<string, ScorerReport>)
  return [
    heading + scoreText,
    ...(error ? formatLabeledText('error', error, 'red', output) : []),
    ...(formatDifference(expected_output, actual_output, output) ?? [
      ...(expected_output === null ? [] : formatLabeledText('expected', expected_output, 'green', output)),
      ...(actual_output === null ? [] : formatLabeledText('actual', actual_output, 'red', output)),
    ]),
    ...reports
      // A scorer without a score failed with the error that is shown above.
      .filter(([, { passed: isPassed, score: ownScore }]) => isPassed === false && (ownScore !== null || error === null))
      .map(([name, report]) => {
        const { reason } = report
        const scored = [name, formatScore(report, currency)].filter(Boolean).join(' ')
        return INDENT + paint('dim', `${scored}${reason ? `: ${sanitizeLine(reason)}` : ''}`, stream)
      }),
  ]
}

function formatLabeledText(name: string, text: string, color: 'red' | 'green', { columns, stream }: Output): string[] {
  const label = `${name} `.padEnd(9)
  const lines = wrap(sanitizeText(text), Math.min(columns, MAX_COLUMNS) - INDENT.length - label.length)
  const shown =
    lines.length > MAX_TEXT_LINES ? [...lines.slice(0, MAX_TEXT_LINES - 1), `… ${lines.length - MAX_TEXT_LINES + 1} more lines`] : lines
  return shown.map((line, index) => INDENT + (index === 0 ? label : ' '.repeat(label.length)) + paint(color, line, stream))
}

/** Formats a line diff; undefined if the texts have no line in common. */
function formatDifference(expected: string | null, actual: string | null, output: Output): string[] | undefined {
  if (expected === null || actual === null) return undefined
  const lines = diffLines(sanitizeText(expected.trim()), sanitizeText(actual.trim()))
  if (!lines.some(({ sign }) => sign === ' ') || lines.every(({ sign }) => sign === ' ')) return undefined
  const isNearChange = lines.map((_, index) => lines.slice(Math.max(0, index - 2), index + 3).some(({ sign }) => sign !== ' '))
  const shown: string[] = [paint('green', '- expected', output.stream), paint('red', '+ actual', output.stream)]
  for (const [index, { sign, text }] of lines.entries()) {
    if (isNearChange[index]) shown.push(...formatDiffLine({ sign, text }, output))
    else if (index === 0 || isNearChange[index - 1]) shown.push('  …')
  }
  const maxLines = 2 + 2 * MAX_TEXT_LINES
  return (shown.length > maxLines ? [...shown.slice(0, maxLines), `… ${shown.length - maxLines} more lines`] : shown).map(
    (line) => INDENT + line,
  )
}

function formatDiffLine({ sign, text }: DiffLine, { columns, stream }: Output): string[] {
  const wrapped = wrap(text, Math.min(columns, MAX_COLUMNS) - INDENT.length - 2).map((line) => `${sign} ${line}`)
  return sign === ' ' ? wrapped : wrapped.map((line) => paint(sign === '-' ? 'green' : 'red', line, stream))
}

export const sortFailuresFirst = (results: readonly RunResult[]): RunResult[] =>
  [...results].sort(
    (a, b) => Number(a.passed) - Number(b.passed) || Number(a.error === null) - Number(b.error === null) || a.position - b.position,
  )

export function formatComparison(comparison: RunComparison, output: Output, limit: number): string[] {
  const { a, b, better, worse, same, only_a, only_b, p_value, verdict, changes } = comparison
  const { stream, columns } = output
  const color = verdict === 'worse' ? 'red' : verdict === 'better' ? 'green' : 'bold'
  const others = [only_a > 0 ? `${only_a} only in baseline` : '', only_b > 0 ? `${only_b} new` : ''].filter(Boolean)
  const shown = changes.slice(0, limit)
  const label = verdict === 'same' && changes.length > 0 ? 'not significant' : verdict
  const marks = { worse: paint('red', '▼ worse', stream), better: paint('green', '▲ better', stream) }
  return [
    `${paint(color, label, stream)}  pass rate ${formatPercent(a.summary.pass_rate)} → ${formatPercent(b.summary.pass_rate)}`,
    paint(
      'dim',
      [`${better} better`, `${worse} worse`, `${same} unchanged`, ...others, `p = ${p_value.toPrecision(2)}`].join(' · '),
      stream,
    ),
    ...shown.flatMap(({ input, change, position, expected_output, a: before, b: after }) => [
      '',
      `${marks[change]}  ${position + 1}  ${truncate(sanitizeLine(input), Math.min(columns, MAX_COLUMNS) - 16)}`,
      ...(expected_output === null ? [] : formatLabeledText('expected', expected_output, 'green', output)),
      ...formatLabeledText('before', before.actual_output ?? '(no answer)', change === 'worse' ? 'green' : 'red', output),
      ...formatLabeledText('now', after.actual_output ?? '(no answer)', change === 'worse' ? 'red' : 'green', output),
    ]),
    ...(changes.length > shown.length
      ? ['', paint('dim', `and ${changes.length - shown.length} more; use --all to show them`, stream)]
      : []),
  ]
}
