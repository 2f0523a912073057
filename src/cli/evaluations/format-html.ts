import type { Run } from '../../contract/families/evaluation-runs.ts'
import { formatCost } from '../../contract/schemas/currency.ts'
import { formatColumnChart, formatFigureList } from '../html/charts.ts'
import { formatSideBySide } from '../html/diff.ts'
import { type Html, html } from '../html/html.ts'
import { formatPage } from '../html/page.ts'
import { formatOmission } from '../html/text-limit.ts'
import { diffLines } from '../terminal/diff-lines.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { formatCount, formatMilliseconds } from '../terminal/format-quantity.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { describeComparison, describeProblem, describeRun } from './describe-run.ts'
import { formatPercent, formatPosition } from './format-report.ts'
import { formatScore, type ScorerReport, summarizeScorers } from './format-scores.ts'
import type { ReportedChange, ReportedResult, RunReport } from './load-report.ts'

const MAX_TITLE_LENGTH = 160
const MAX_REASON_LENGTH = 2_000
/** Further changes and failures are closed, so that the page stays short. */
const MAX_OPEN = 10
const MAX_CONFIGURATION_LENGTH = 20_000

export function formatRunHtml(report: RunReport): string {
  const { name, run, baseline } = report
  const subtitle = [`${formatCell(run.created_at)} UTC`, run.run_id, ...(baseline ? [`baseline ${baseline.run.run_id}`] : [])].join(' · ')
  return formatPage({
    title: name,
    subtitle,
    body: [
      formatFigures(report),
      ...formatTrend(report),
      ...formatScorers(report),
      ...(baseline ? formatChanges(baseline.changes) : []),
      ...formatResults(report),
      ...formatConfiguration(report),
    ],
  })
}

function formatFigures({ run, baseline }: RunReport): Html {
  const before = baseline ? describeRun(baseline.run) : []
  const figures = describeRun(run).map((figure, index) => ({ ...figure, note: before[index] && `baseline ${before[index].value}` }))
  const problem = describeProblem(run)
  const color = baseline && { worse: 'bad', better: 'good', same: '' }[baseline.comparison.verdict]
  return html`${problem ? html`<p class="bad">${problem}</p>` : undefined}
${baseline ? html`<p class="${color}">${describeComparison(baseline.comparison)}</p>` : undefined}
${formatFigureList(figures)}`
}

function formatTrend({ run, trend }: RunReport): Html[] {
  if (trend.length < 2) return []
  const columns = trend.map(({ run_id, created_at, summary }) => ({
    title: `${formatCell(created_at)}: ${formatPercent(summary.pass_rate)}`,
    value: summary.pass_rate,
    isCurrent: run_id === run.run_id,
  }))
  const [first, last] = [trend[0], trend.at(-1)].map((each) => formatCell(each?.created_at).slice(0, 10))
  const caption = `${first} to ${last}; the full height is 100 %`
  return [
    html`<h2>Pass rate of the last ${formatCount(trend.length)} runs</h2>`,
    formatColumnChart(caption, columns, 1),
    html`<details><summary>Figures per run</summary><div class="scroll"><table>
<thead><tr><th>Run</th><th class="number">Pass rate</th><th class="number">Passed</th><th class="number">Score</th></tr></thead>
<tbody>${[...trend].reverse().map(formatTrendRow)}
</tbody></table></div></details>`,
  ]
}

const formatTrendRow = ({ run_id, created_at, summary: { pass_rate, passed, total, average_score } }: Run): Html => html`
<tr><td title="${run_id}">${formatCell(created_at)}</td><td class="number">${formatPercent(pass_rate)}</td>
<td class="number">${passed}/${total}</td><td class="number">${average_score?.toFixed(2) ?? '–'}</td></tr>`

function formatScorers({ results, omittedResults }: RunReport): Html[] {
  const scorers = summarizeScorers(results)
  if (scorers.length === 0) return []
  return [
    html`<h2>Scores</h2>`,
    html`<div class="scroll"><table>
<thead><tr><th>Scorer</th><th class="number">Average</th><th class="number">Passed</th></tr></thead>
<tbody>${scorers.map(
      ({ name, count, passed, average }) => html`
<tr><td>${name}</td><td class="number">${average?.toFixed(2) ?? '–'}</td>
<td class="number">${passed}/${count}</td></tr>`,
    )}
</tbody></table></div>`,
    html`${omittedResults > 0 ? html`<p class="quiet">Of the ${formatCount(results.length)} results listed below.</p>` : undefined}`,
  ]
}

function formatChanges(changes: readonly ReportedChange[]): Html[] {
  if (changes.length === 0) return []
  return [html`<h2>Differences from the baseline (${formatCount(changes.length)})</h2>`, ...changes.map(formatChange)]
}

function formatChange({ change, position, input, expected, before, now, scores }: ReportedChange, index: number): Html {
  const mark = change === 'worse' ? html`<b class="bad">▼ Worse</b>` : html`<b class="good">▲ Better</b>`
  const score = scores.map((value) => value?.toFixed(2) ?? '–').join(' → ')
  return html`<details class="case"${index < MAX_OPEN ? html` open` : undefined}>
<summary>${mark} ${formatPosition(position)} <span dir="auto">${formatTitle(input.text)}</span>
<span class="quiet">${score}</span></summary>
${formatWholeInput(input.text, input.omitted)}
${expected ? html`<h4>Expected</h4><pre dir="auto">${expected.text}</pre>${formatOmission(expected.omitted)}` : undefined}
${formatSideBySide({ heading: 'Baseline', text: before }, { heading: 'This run', text: now })}
</details>`
}

function formatResults({ run, results, omittedResults, baseline }: RunReport): Html[] {
  const groups: [string, ReportedResult[]][] = [
    ['Could not be run or scored', results.filter(({ error }) => error !== null)],
    ['Failed', results.filter(({ passed, error }) => !passed && error === null)],
    ['Passed', results.filter(({ passed, error }) => passed && error === null)],
  ]
  // With a baseline the differences are open instead.
  let open = baseline && baseline.changes.length > 0 ? 0 : MAX_OPEN
  const sections = groups.flatMap(([heading, list]) =>
    list.length === 0
      ? []
      : [
          html`<h2>${heading} (${formatCount(list.length)})</h2>`,
          ...list.map((result) => formatResult(result, !result.passed && open-- > 0, run.summary.currency)),
        ],
  )
  const note = html`<p class="quiet">${formatCount(omittedResults, 'more result')} not listed.
cadre evaluations results --json prints all.</p>`
  return [...sections, ...(omittedResults > 0 ? [note] : [])]
}

function formatResult(result: ReportedResult, isOpen: boolean, currency: string | undefined): Html {
  const { position, repeat, input, expected, actual, passed, error, score, scores, latency_ms, usage, cost, cited } = result
  const mark = passed ? html`<b class="good">✓</b>` : html`<b class="bad">${error === null ? '✗' : '!'}</b>`
  const facts = [
    latency_ms === null ? '' : formatMilliseconds(latency_ms),
    usage ? formatCount(usage.total_tokens, 'token') : '',
    cost === null ? '' : formatCost(cost, currency),
    cited.length > 0 ? `cites ${cited.map(sanitizeLine).join(', ')}` : '',
  ].filter(Boolean)
  return html`<details class="case"${isOpen ? html` open` : undefined}>
<summary>${mark} ${formatPosition(position, repeat)} <span dir="auto">${formatTitle(input.text)}</span>
<span class="quiet">${score?.toFixed(2)}</span></summary>
${formatWholeInput(input.text, input.omitted)}
${error === null ? undefined : html`<p class="bad">${error.slice(0, MAX_REASON_LENGTH)}</p>`}
${formatSideBySide({ heading: 'Expected', text: expected }, { heading: 'Actual', text: actual })}
${formatReports(scores as Record<string, ScorerReport>, currency)}
<p class="quiet">${facts.join(' · ')}</p>
</details>`
}

function formatReports(reports: Record<string, ScorerReport>, currency: string | undefined): Html {
  const rows = Object.entries(reports).map(([name, report]) => {
    const color = report.passed === false ? 'bad' : 'good'
    const reason = (report.reason ?? '').slice(0, MAX_REASON_LENGTH)
    return html`<tr><td class="${color}">${name}</td><td>${formatScore(report, currency)}</td><td dir="auto">${reason}</td></tr>`
  })
  return rows.length === 0 ? html`` : html`<div class="scroll"><table class="scores"><tbody>${rows}</tbody></table></div>`
}

/** The title is one line; a longer input follows as a whole. */
const formatTitle = (input: string): string => {
  const line = sanitizeLine(input.slice(0, 2 * MAX_TITLE_LENGTH))
  return line.length > MAX_TITLE_LENGTH ? `${line.slice(0, MAX_TITLE_LENGTH).toWellFormed()}…` : line
}

const formatWholeInput = (input: string, omitted: number): Html =>
  formatTitle(input) === input.trim() && omitted === 0
    ? html``
    : html`<h4>Input</h4><pre dir="auto">${input}</pre>${formatOmission(omitted)}`

/** The configuration of the run, with what changed since the baseline. */
function formatConfiguration({ run, baseline }: RunReport): Html[] {
  const write = (configuration: unknown) => JSON.stringify(configuration, null, 2).slice(0, MAX_CONFIGURATION_LENGTH)
  const text = write(run.configuration)
  const before = baseline ? write(baseline.run.configuration) : text
  const classes = { '+': 'added', '-': 'removed', ' ': '' }
  const lines = diffLines(before, text).map(({ sign, text: line }) => html`<span class="${classes[sign]}">${sign} ${line}</span>\n`)
  const heading = before === text ? 'Configuration' : 'Configuration, with changes since the baseline'
  return [
    html`<h2>${heading}</h2>`,
    html`<details${before === text ? undefined : html` open`}><summary>Show</summary><pre>${lines}</pre></details>`,
  ]
}
