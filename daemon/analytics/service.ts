/** Computes analytics of conversations. */
import type { Static } from 'typebox'
import type { analyticsRoutes } from '../../src/contract/families/analytics.ts'
import { readCurrency } from '../core/currency.ts'
import type { Database } from '../store/database.ts'
import { listSeriesDays, parseDateRange, splitWholeDays } from '../validation/date-range.ts'
import {
  type Activity,
  type AnalyticsScope,
  type ConversationCounts,
  countConversations,
  countStartedConversations,
  getLatencyPercentile,
  listActivityByDay,
  listActivityByUser,
  SUMMED_COLUMNS,
} from './store.ts'

type AnalyticsQuery = Static<typeof analyticsRoutes.conversations.query>
type AnalyticsReport = Static<typeof analyticsRoutes.conversations.response>

export function createAnalyticsService(database: Database, now: () => Date) {
  async function getConversationAnalytics({ agent_id, ...dates }: AnalyticsQuery): Promise<AnalyticsReport> {
    const span = parseDateRange(dates)
    const scope: AnalyticsScope = { span, ...splitWholeDays(span), agentId: agent_id }
    // Started together, so that no message arrives in between and all figures agree.
    const [days, users, active, started] = await Promise.all([
      listActivityByDay(database, scope),
      listActivityByUser(database, scope),
      countConversations(database, scope),
      countStartedConversations(database, scope),
    ])
    const total = sumActivity(days)
    const total_conversations = sum(active, 'conversations')
    const slower = total.replies - Math.ceil((total.replies * 95) / 100)
    const p95 = total.replies === 0 ? undefined : await getLatencyPercentile(database, scope, slower)
    return {
      total_conversations,
      total_messages: total.messages,
      average_messages_per_conversation: total_conversations === 0 ? 0 : round(total.messages / total_conversations),
      active_users: new Set(users.filter(({ said }) => said > 0).map(({ user_id }) => user_id)).size,
      completion_rate: total_conversations === 0 ? null : round(sum(active, 'completed') / total_conversations),
      average_response_time_ms: total.replies === 0 ? null : Math.round(total.latency_ms / total.replies),
      p95_response_time_ms: p95 ?? null,
      total_tokens: total.tokens,
      total_cost: total.tokens > 0 && total.unpriced_tokens === total.tokens ? null : total.cost_billionths / 1e9,
      currency: await readCurrency(database),
      unpriced_tokens: total.unpriced_tokens,
      tool_calls: total.tool_calls,
      by_day: buildSeries(scope, days, started),
      by_agent: groupByAgent(users, active),
    }
  }

  function buildSeries(
    { span }: AnalyticsScope,
    days: readonly DayActivity[],
    started: readonly { day: string; conversations: number }[],
  ): AnalyticsReport['by_day'] {
    const startedByDay = new Map(started.map(({ day, conversations }) => [day, conversations]))
    const activity = new Map(days.map((row) => [row.day, row]))
    const used = [...new Set([...startedByDay.keys(), ...activity.keys()])].sort()
    return listSeriesDays(span, used, now().toISOString()).map((date) => {
      const { messages, tokens } = activity.get(date) ?? { messages: 0, tokens: 0 }
      return { date, conversations: startedByDay.get(date) ?? 0, messages, tokens }
    })
  }

  return { getConversationAnalytics }
}

export type AnalyticsService = ReturnType<typeof createAnalyticsService>

type DayActivity = Activity & { day: string }

/** Omits conversations whose deleted agent is unknown. */
function groupByAgent(
  users: readonly (Activity & { agent_id: string | null })[],
  active: readonly ConversationCounts[],
): AnalyticsReport['by_agent'] {
  const agents = new Map(active.map(({ agent_id, conversations }) => [agent_id, { conversations, messages: 0, tokens: 0 }]))
  for (const { agent_id, messages, tokens } of users) {
    const agent = agents.get(agent_id)
    if (!agent) continue
    agent.messages += messages
    agent.tokens += tokens
  }
  agents.delete(null)
  return Object.fromEntries(agents)
}

const sumActivity = (activity: readonly Activity[]) =>
  Object.fromEntries(SUMMED_COLUMNS.map((column) => [column, sum(activity, column)])) as Activity

const sum = <K extends string>(rows: readonly Record<K, number>[], field: K): number => rows.reduce((total, row) => total + row[field], 0)
const round = (ratio: number): number => Math.round(ratio * 1e4) / 1e4
