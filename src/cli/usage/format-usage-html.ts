import { formatMoney } from '../../contract/schemas/currency.ts'
import { formatColumnChart, formatFigureList, formatShareTable } from '../html/charts.ts'
import { type Html, html } from '../html/html.ts'
import { formatPage } from '../html/page.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import {
  CHART_HEADINGS,
  type Costs,
  formatAmount,
  formatEntity,
  groupUsage,
  type Report,
  type Statistics,
  sortTotals,
} from './format-usage.ts'

type HtmlReport = Pick<Report, 'title' | 'names' | 'top' | 'currency'>

export function formatUsageHtml(usage: Statistics, { by_day }: Pick<Costs, 'by_day'>, report: HtmlReport): string {
  const by: Record<string, Statistics['by_model']> = { ...usage.by_entity, model: usage.by_model }
  const tables = Object.entries(CHART_HEADINGS).flatMap(([kind, heading]) => formatTotals(heading, by[kind] ?? {}, report))
  return formatPage({ title: 'Model usage', subtitle: report.title, body: [formatTotal(usage), ...formatDays(by_day, report), ...tables] })
}

function formatTotal(usage: Statistics): Html {
  const { calls, total_tokens, input_tokens, output_tokens, cached_tokens, estimated_tokens, total_cost, currency, unpriced_tokens } = usage
  const note = (count: number, text: string) => (count > 0 ? `${formatCount(count)} ${text}` : undefined)
  return formatFigureList([
    { name: 'Calls', value: formatCount(calls) },
    { name: 'Tokens', value: formatCount(total_tokens), note: note(estimated_tokens, 'of them estimated') },
    { name: 'Input tokens', value: formatCount(input_tokens), note: note(cached_tokens, 'of them cached') },
    { name: 'Output tokens', value: formatCount(output_tokens) },
    {
      name: 'Cost',
      value: formatMoney(total_cost, currency),
      note: note(unpriced_tokens, 'tokens have no price'),
    },
  ])
}

function formatDays(days: Costs['by_day'], { currency }: HtmlReport): Html[] {
  const { unit, rows, omitted } = groupUsage(days)
  if (rows.length === 0) return []
  const name = unit.toLowerCase()
  const columns = rows.map((day) => ({
    title: `${day.date}: ${formatCount(day.tokens, 'token')}, cost ${formatAmount(day, currency)}`,
    value: day.tokens,
  }))
  const largest = `at most ${formatCount(Math.max(...rows.map(({ tokens }) => tokens)), 'token')} a ${name}`
  const cells = rows.map((day) => ({ label: day.date, cells: [formatCount(day.tokens), formatAmount(day, currency)], value: day.tokens }))
  return [
    html`<h2>Tokens per ${name}</h2>`,
    formatColumnChart(`${rows[0]?.date} to ${rows.at(-1)?.date}, ${largest}`, columns),
    html`${omitted ? html`<p class="quiet">${omitted}</p>` : undefined}`,
    html`<details><summary>Figures per ${name}</summary>${formatShareTable([unit, 'Tokens', 'Cost'], cells)}</details>`,
  ]
}

function formatTotals(heading: string, totals: Statistics['by_model'], { names, top, currency }: HtmlReport): Html[] {
  const all = sortTotals(totals)
  if (all.length === 0) return []
  const rows = all.slice(0, top).map(([id, total]) => ({
    label: formatEntity(names, id),
    title: id,
    cells: [formatCount(total.tokens), formatAmount(total, currency)],
    value: total.tokens,
  }))
  const title = heading === 'RAG TOOL' ? 'RAG tool' : heading.charAt(0) + heading.slice(1).toLowerCase()
  return [
    html`<h2>${title}</h2>`,
    formatShareTable([title, 'Tokens', 'Cost'], rows),
    html`${all.length > rows.length ? html`<p class="quiet">and ${formatCount(all.length - rows.length)} more</p>` : undefined}`,
  ]
}
