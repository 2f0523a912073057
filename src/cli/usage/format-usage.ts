import type { Static } from 'typebox'
import type { UsageCosts, UsageStatistics } from '../../contract/families/usage.ts'
import { formatMoney } from '../../contract/schemas/currency.ts'
import { detectKind } from '../resources/resource-kinds.ts'
import { formatChart, formatTrend } from '../terminal/bar-chart.ts'
import { paint } from '../terminal/color.ts'
import { formatCompact, formatCount } from '../terminal/format-quantity.ts'
import { rewriteCommands } from '../terminal/invocation.ts'
import type { Output } from '../terminal/table.ts'
import { wrap } from '../terminal/text.ts'
import { groupDays } from './group-days.ts'

export type Statistics = Static<typeof UsageStatistics>
export type Costs = Static<typeof UsageCosts>
type UsageTotal = Costs['by_model'][string]
type Day = Costs['by_day'][number]
type Days = readonly Day[]

/** Display names by identifier. */
export type Names = ReadonlyMap<string, string>

/** The name of a resource; the ID of users, and of models that are not resources. */
export const formatEntity = (names: Names, id: string): string => names.get(id) ?? (detectKind(id) ? '(deleted)' : id)

export interface Report {
  title: string
  names: Names
  /** Of all costs. */
  currency: string
  output: Output
  /** Maximum rows per chart; the rest is only counted. */
  top: number
}

const NARROW_COLUMNS = 60

/** The value that the length of a bar represents. */
type GetWeight = (total: UsageTotal) => number
const getTokens: GetWeight = ({ tokens }) => tokens

/** Headings of the charts by kind, in display order. */
export const CHART_HEADINGS = {
  model: 'MODEL',
  agent: 'AGENT',
  user: 'USER',
  rag_tool: 'RAG TOOL',
  prompt_template: 'PROMPT',
  evaluation: 'EVALUATION',
}

/** `days` are shown as a line of their tokens. */
export function formatUsage(usage: Statistics, days: Days, report: Report): string {
  const { output } = report
  const { total_tokens, input_tokens, output_tokens, cached_tokens, estimated_tokens, calls } = usage
  const cached = cached_tokens > 0 ? `, ${formatCount(cached_tokens)} of them cached` : ''
  const tokens = `${formatCount(input_tokens)} in${cached}, ${formatCount(output_tokens)} out`
  const estimated = estimated_tokens > 0 ? ` ${formatCount(estimated_tokens)} of them are estimates.` : ''
  const sentences = [`${formatCount(calls, 'call')}, ${formatCount(total_tokens)} tokens: ${tokens}.${estimated}`, formatCost(usage)]
  const by = { ...usage.by_entity, model: usage.by_model }
  const charts = Object.entries(CHART_HEADINGS).flatMap(([kind, head]) => formatUsageChart(head, by[kind as keyof typeof by] ?? {}, report))
  const trend = formatTrend({ label: 'Tokens per day', values: days.map(({ tokens }) => tokens), format: formatCompact }, output)
  return [...formatHeading(report), ...sentences.flatMap((sentence) => wrap(sentence, output.columns)), ...trend, ...charts].join('\n')
}

export function formatCosts(costs: Costs, report: Report): string {
  const { output } = report
  const tokens = costs.by_day.reduce((sum, day) => sum + day.tokens, 0)
  const { unit, rows, omitted } = groupUsage(costs.by_day)
  // Without costs, the bars show tokens.
  const getWeight: GetWeight = (costs.total_cost ?? 0) > 0 ? ({ cost }) => cost ?? 0 : getTokens
  const bars = rows.map((day) => ({ label: day.date, cells: formatFigures(day, report), value: getWeight(day) }))
  const days = ['', ...formatChart([unit, 'TOKENS', 'COST'], bars, output), ...formatNote(omitted, output)]
  return [
    ...formatHeading(report),
    ...wrap(formatCost({ ...costs, total_tokens: tokens }), output.columns),
    ...days,
    ...formatUsageChart('MODEL', costs.by_model, report, getWeight),
  ].join('\n')
}

export const formatHeading = ({ title, output }: Report): string[] =>
  wrap(title, output.columns).map((line) => paint('bold', line, output.stream))
/** Formats the note below a chart. */
export const formatNote = (note: string | undefined, { stream }: Output): string[] =>
  note === undefined ? [] : [paint('dim', note, stream)]

function formatCost({
  total_cost,
  currency,
  total_tokens,
  unpriced_tokens,
}: Pick<Statistics, 'total_cost' | 'currency' | 'total_tokens' | 'unpriced_tokens'>): string {
  if (total_cost === null)
    return rewriteCommands(
      'The cost is unknown because the models have no price. To set one: cadre models update NAME ' +
        '--pricing input_per_million=0.5,output_per_million=1.5',
    )
  const unpriced =
    unpriced_tokens > 0 ? `, excluding ${formatCount(unpriced_tokens)} of ${formatCount(total_tokens)} tokens without a price` : ''
  return `Cost ${formatMoney(total_cost, currency)}${unpriced}.`
}

/** Formats a chart with the largest values first. */
function formatUsageChart(heading: string, totals: Record<string, UsageTotal>, report: Report, getWeight = getTokens): string[] {
  const { names, output, top } = report
  const all = sortTotals(totals, getWeight)
  if (all.length === 0) return []
  const rows = all.slice(0, top).map(([id, total]) => {
    const label = formatEntity(names, id)
    return { label, cells: formatFigures(total, report), value: getWeight(total), note: label === id ? undefined : id }
  })
  const rest = all.length > rows.length ? [paint('dim', `and ${formatCount(all.length - rows.length)} more`, output.stream)] : []
  return ['', ...formatChart([heading, 'TOKENS', 'COST'], rows, output), ...rest]
}

export const sortTotals = (totals: Record<string, UsageTotal>, getWeight = getTokens): [string, UsageTotal][] =>
  Object.entries(totals).sort(([, a], [, b]) => getWeight(b) - getWeight(a) || b.tokens - a.tokens)

const formatFigures = (total: UsageTotal, { output, currency }: Report): [string, string] => [
  output.columns < NARROW_COLUMNS ? formatCompact(total.tokens) : formatCount(total.tokens),
  formatAmount(total, currency),
]

/** Marks costs that are unknown or incomplete. */
export const formatAmount = ({ cost, unpriced_tokens }: Pick<UsageTotal, 'cost' | 'unpriced_tokens'>, currency: string): string =>
  cost === null ? '–' : `${unpriced_tokens > 0 ? '≥ ' : ''}${formatMoney(cost, currency)}`

export const groupUsage = (days: Days) => groupDays(days, addDays, ({ tokens }) => tokens === 0)

/** The cost of a sum is unknown only if none of its tokens has a price. */
const addDays = (a: Day, b: Day): Day => {
  const unpriced_tokens = a.unpriced_tokens + b.unpriced_tokens
  const tokens = a.tokens + b.tokens
  return {
    date: a.date,
    tokens,
    unpriced_tokens,
    estimated_tokens: a.estimated_tokens + b.estimated_tokens,
    cost: tokens > 0 && unpriced_tokens === tokens ? null : (a.cost ?? 0) + (b.cost ?? 0),
  }
}
