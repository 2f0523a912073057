import type { Static } from 'typebox'
import type { ConversationAnalytics } from '../../contract/families/analytics.ts'
import { formatMoney } from '../../contract/schemas/currency.ts'
import { formatChart, formatTrend } from '../terminal/bar-chart.ts'
import { paint } from '../terminal/color.ts'
import { formatCompact, formatCount, formatMilliseconds } from '../terminal/format-quantity.ts'
import { formatRecord, type Output } from '../terminal/table.ts'
import { formatEntity, formatHeading, formatNote, type Report } from './format-usage.ts'
import { groupDays } from './group-days.ts'

export type Analytics = Static<typeof ConversationAnalytics>
type Day = Analytics['by_day'][number]

export function formatAnalytics(analytics: Analytics, report: Report): string {
  const { names, output, top } = report
  const { by_day, by_agent } = analytics
  const { unit, rows, omitted } = groupActivity(by_day)
  const days = rows.map(({ date, conversations, messages }) => ({
    label: date,
    cells: [formatCount(messages), formatCount(conversations)],
    value: messages,
  }))
  const agents = sortAgents(by_agent)
  const bars = agents.slice(0, top).map(([id, { messages, conversations, tokens }]) => ({
    label: formatEntity(names, id),
    cells: [formatCount(messages), formatCount(conversations), formatCompact(tokens)],
    value: messages,
    note: formatEntity(names, id) === id ? undefined : id,
  }))
  const rest = agents.length > bars.length ? [paint('dim', `and ${formatCount(agents.length - bars.length)} more`, output.stream)] : []
  return [
    ...formatHeading(report),
    '',
    formatRecord(formatFigures(analytics), output),
    ...formatTrends(by_day, output),
    ...(days.length > 0 ? ['', ...formatChart([unit, 'MESSAGES', 'STARTED'], days, output), ...formatNote(omitted, output)] : []),
    ...(bars.length > 0 ? ['', ...formatChart(['AGENT', 'MESSAGES', 'CHATS', 'TOKENS'], bars, output), ...rest] : []),
  ].join('\n')
}

export const groupActivity = (days: readonly Day[]) =>
  groupDays(days, addDays, ({ messages, conversations }) => messages === 0 && conversations === 0)

export const sortAgents = (by_agent: Analytics['by_agent']) =>
  Object.entries(by_agent).sort(([, a], [, b]) => b.messages - a.messages || b.conversations - a.conversations)

/** Messages and tokens per day, each in one line. */
function formatTrends(days: readonly Day[], output: Output): string[] {
  const lines = (['messages', 'tokens'] as const).flatMap((name) => {
    const label = name === 'messages' ? 'Messages per day' : 'Tokens per day  '
    return formatTrend({ label, values: days.map((day) => day[name]), format: formatCompact }, output)
  })
  return lines.length > 0 ? ['', ...lines] : []
}

export function formatFigures(analytics: Analytics): Record<string, string> {
  const { completion_rate, average_response_time_ms: mean, p95_response_time_ms: p95, total_cost, currency, unpriced_tokens } = analytics
  const completed = completion_rate === null ? '' : `, ${Math.round(completion_rate * 100)} % completed`
  const each = `${analytics.average_messages_per_conversation.toLocaleString('en', { maximumFractionDigits: 1 })} per conversation`
  const unpriced = unpriced_tokens > 0 ? `, excluding ${formatCount(unpriced_tokens)} tokens without a price` : ''
  return {
    conversations: `${formatCount(analytics.total_conversations)}${completed}`,
    messages: `${formatCount(analytics.total_messages)}, ${each}`,
    active_users: formatCount(analytics.active_users),
    response_time:
      mean === null ? '–' : `${formatMilliseconds(mean)} on average${p95 === null ? '' : `, 95th percentile ${formatMilliseconds(p95)}`}`,
    tokens: formatCount(analytics.total_tokens),
    cost: total_cost === null ? 'unknown' : `${formatMoney(total_cost, currency)}${unpriced}`,
    tool_calls: formatCount(analytics.tool_calls),
  }
}

const addDays = (a: Day, b: Day): Day => ({
  date: a.date,
  conversations: a.conversations + b.conversations,
  messages: a.messages + b.messages,
  tokens: a.tokens + b.tokens,
})
