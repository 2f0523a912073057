/** Formats a run as Markdown for a comment on a pull request. */
import { formatSparkline } from '../terminal/bar-chart.ts'
import { diffLines } from '../terminal/diff-lines.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'
import { describeComparison, describeProblem, describeRun } from './describe-run.ts'
import { formatPercent, formatPosition } from './format-report.ts'
import { formatScore, type ScorerReport, summarizeScorers } from './format-scores.ts'
import type { ReportedChange, ReportedResult, RunReport } from './load-report.ts'

/** GitHub rejects comments of more than 65,536 characters. */
const MAX_LENGTH = 60_000
const MAX_TITLE_LENGTH = 120
const MAX_TEXT_LENGTH = 1_500
const MAX_TREND_COLUMNS = 30

export function formatRunMarkdown(report: RunReport): string {
  const { name, run, baseline, trend, results, omittedResults } = report
  const problem = describeProblem(run)
  const head = [
    `### Evaluation ${formatCode(name)}: ${formatPercent(run.summary.pass_rate)} passed`,
    ...(problem ? [formatCode(problem)] : []),
    ...(baseline ? [describeComparison(baseline.comparison)] : []),
    formatFigures(report),
    ...(trend.length > 1 ? [formatTrend(trend)] : []),
    ...formatScorers(results),
  ]
  const failed = results.filter(({ passed }) => !passed)
  // Failures are read first, so some of them are missing only if all listed results failed.
  const missing = failed.length === results.length ? omittedResults : 0
  const foot = `Run ${formatCode(run.run_id)}${baseline ? `, baseline ${formatCode(baseline.run.run_id)}` : ''}`
  const room = (MAX_LENGTH - head.join('').length - foot.length) / 2
  const sections = [
    ...formatList({ title: 'Differences from the baseline', items: baseline?.changes ?? [], missing: 0, format: formatChange }, room),
    ...formatList({ title: 'Failed', items: failed, missing, format: (result) => formatFailure(result, run.summary.currency) }, room),
  ]
  return `${[...head, ...sections, foot].join('\n\n')}\n`
}

interface List<T> {
  title: string
  items: readonly T[]
  /** Number of items that were not loaded. */
  missing: number
  format: (item: T) => string
}

function formatList<T>(list: List<T>, length: number): string[] {
  const total = list.items.length + list.missing
  if (total === 0) return []
  const shown = formatItems(list, length)
  const more = total > shown.length ? [`… and ${formatCount(total - shown.length)} more`] : []
  return [[`<details><summary>${list.title} (${formatCount(total)})</summary>`, ...shown, ...more, '</details>'].join('\n\n')]
}

/** Formats items until they are longer than `length`. */
function formatItems<T>({ items, format }: List<T>, length: number): string[] {
  const shown: string[] = []
  let used = 0
  for (const item of items) {
    const text = format(item)
    used += text.length + 2
    if (used > length) break
    shown.push(text)
  }
  return shown
}

function formatFigures({ run, baseline }: RunReport): string {
  const before = baseline ? describeRun(baseline.run) : undefined
  const rows = describeRun(run).map(({ name, value }, index) => [name, ...(before ? [before[index]?.value ?? ''] : []), value])
  return formatTable(['', ...(before ? ['Baseline'] : []), 'This run'], rows)
}

const formatTrend = (runs: RunReport['trend']): string => {
  const rates = runs.map(({ summary }) => summary.pass_rate)
  const ends = `${formatPercent(rates[0] ?? 0)} to ${formatPercent(rates.at(-1) ?? 0)}`
  return `Pass rate of the last ${formatCount(runs.length)} runs: \`${formatSparkline(rates, MAX_TREND_COLUMNS, 1)}\` ${ends}`
}

function formatScorers(results: readonly ReportedResult[]): string[] {
  const rows = summarizeScorers(results).map(({ name, average, passed, count }) => [
    formatCode(name),
    average?.toFixed(2) ?? '–',
    `${passed}/${count}`,
  ])
  return rows.length > 0 ? [formatTable(['Scorer', 'Average', 'Passed'], rows)] : []
}

const formatTable = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map((_, index) => (index === 0 ? '---' : '--:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

function formatChange({ change, position, input, expected, before, now }: ReportedChange): string {
  return [
    `**${change === 'worse' ? '▼ worse' : '▲ better'} ${formatPosition(position)}** ${formatCode(input.text)}`,
    ...(expected ? [`Expected:\n\n${formatBlock(expected.text)}`] : []),
    formatDifference(before?.text ?? '(no answer)', now?.text ?? '(no answer)'),
  ].join('\n\n')
}

function formatFailure(result: ReportedResult, currency: string | undefined): string {
  const { position, repeat, input, expected, actual, error, scores } = result
  const reasons = Object.entries(scores as Record<string, ScorerReport>)
    .filter(([, { passed }]) => passed === false)
    .map(([name, report]) => formatCode([name, formatScore(report, currency), report.reason].filter(Boolean).join(' '), MAX_TEXT_LENGTH))
  return [
    `**${error === null ? '✗' : '!'} ${formatPosition(position, repeat)}** ${formatCode(input.text)}`,
    ...(error === null ? [] : [formatBlock(error)]),
    ...(expected ? [formatDifference(expected.text, actual?.text ?? '(no answer)')] : actual ? [formatBlock(actual.text)] : []),
    ...(reasons.length > 0 ? [reasons.join('<br>')] : []),
  ].join('\n\n')
}

function formatDifference(before: string, after: string): string {
  const lines = diffLines(cut(sanitizeText(before).trim()), cut(sanitizeText(after).trim()))
  return formatBlock(lines.map(({ sign, text }) => `${sign} ${text}`).join('\n'), 'diff', 2 * MAX_TEXT_LENGTH)
}

/** Text of models in a code block: mentions, links, images and HTML in it have no effect. The fence is longer than any in the text. */
function formatBlock(text: string, language = 'text', length = MAX_TEXT_LENGTH): string {
  const shown = cut(sanitizeText(text), length)
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}

/** Text in a code span. A backslash before | keeps it in its table cell. */
function formatCode(text: string, length = MAX_TITLE_LENGTH): string {
  const shown = cut(sanitizeLine(text.slice(0, 2 * length)), length).replaceAll('|', '\\|') || ' '
  const fence = '`'.repeat(Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length)) + 1)
  const padding = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${fence}${padding}${shown}${padding}${fence}`
}

const cut = (text: string, length = MAX_TEXT_LENGTH): string => (text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text)
