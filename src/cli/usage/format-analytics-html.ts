import { formatColumnChart, formatFigureList, formatShareTable } from '../html/charts.ts'
import { type Html, html } from '../html/html.ts'
import { formatPage } from '../html/page.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { type Analytics, formatFigures, groupActivity, sortAgents } from './format-analytics.ts'
import { formatEntity, type Report } from './format-usage.ts'

type HtmlReport = Pick<Report, 'title' | 'names' | 'top'>

export function formatAnalyticsHtml(analytics: Analytics, report: HtmlReport): string {
  const figures = Object.entries(formatFigures(analytics)).map(([name, text]) => {
    const [value = '', ...notes] = text.split(/, | (?=on average)/)
    const label = name.replaceAll('_', ' ')
    return { name: label.charAt(0).toUpperCase() + label.slice(1), value, note: notes.join(', ') }
  })
  return formatPage({
    title: 'Conversations',
    subtitle: report.title,
    body: [formatFigureList(figures), ...formatDays(analytics.by_day), ...formatAgents(analytics.by_agent, report)],
  })
}

function formatDays(days: Analytics['by_day']): Html[] {
  const { unit, rows, omitted } = groupActivity(days)
  if (rows.length === 0) return []
  const name = unit.toLowerCase()
  const charts = (['messages', 'tokens'] as const).map((metric) => {
    const largest = `at most ${formatCount(Math.max(...rows.map((row) => row[metric])))} a ${name}`
    const columns = rows.map((row) => ({ title: `${row.date}: ${formatCount(row[metric])} ${metric}`, value: row[metric] }))
    return html`<h2>${metric === 'messages' ? 'Messages' : 'Tokens'} per ${name}</h2>
${formatColumnChart(`${rows[0]?.date} to ${rows.at(-1)?.date}, ${largest}`, columns)}`
  })
  const cells = rows.map(({ date, messages, conversations, tokens }) => ({
    label: date,
    cells: [formatCount(messages), formatCount(conversations), formatCount(tokens)],
    value: messages,
  }))
  return [
    ...charts,
    html`${omitted ? html`<p class="quiet">${omitted}</p>` : undefined}`,
    html`<details><summary>Figures per ${name}</summary>${formatShareTable([unit, 'Messages', 'Started', 'Tokens'], cells)}</details>`,
  ]
}

function formatAgents(by_agent: Analytics['by_agent'], { names, top }: HtmlReport): Html[] {
  const agents = sortAgents(by_agent)
  if (agents.length === 0) return []
  const rows = agents.slice(0, top).map(([id, { messages, conversations, tokens }]) => ({
    label: formatEntity(names, id),
    title: id,
    cells: [formatCount(messages), formatCount(conversations), formatCount(tokens)],
    value: messages,
  }))
  return [
    html`<h2>Agents</h2>`,
    formatShareTable(['Agent', 'Messages', 'Conversations', 'Tokens'], rows),
    html`${agents.length > rows.length ? html`<p class="quiet">and ${formatCount(agents.length - rows.length)} more</p>` : undefined}`,
  ]
}
