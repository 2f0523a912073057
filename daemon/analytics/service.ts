/** Analytics: how conversations went. */
import type { Static } from 'typebox'
import type { ConversationAnalytics } from '../../src/contract/families/analytics.ts'
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
} from './store.ts'

export interface AnalyticsQuery {
  start_date?: string
  end_date?: string
  agent_id?: string
}

type ConversationAnalytics = Static<typeof ConversationAnalytics>

export class AnalyticsService {
  readonly #database: Database
  readonly #now: () => Date

  constructor(database: Database, now: () => Date) {
    this.#database = database
    this.#now = now
  }

  async getConversationAnalytics({ agent_id, ...dates }: AnalyticsQuery): Promise<ConversationAnalytics> {
    const span = parseDateRange(dates)
    const scope: AnalyticsScope = { span, ...splitWholeDays(span), agentId: agent_id }
    // Asked for in one go, so that nothing is said between them and all figures agree.
    const [days, users, alive, begun] = await Promise.all([
      listActivityByDay(this.#database, scope),
      listActivityByUser(this.#database, scope),
      countConversations(this.#database, scope),
      countStartedConversations(this.#database, scope),
    ])
    const all = sumActivity(days)
    const total_conversations = sum(alive, 'conversations')
    const slower = all.replies - Math.ceil((all.replies * 95) / 100)
    const p95 = all.replies === 0 ? undefined : await getLatencyPercentile(this.#database, scope, slower)
    return {
      total_conversations,
      total_messages: all.messages,
      average_messages_per_conversation: total_conversations === 0 ? 0 : round(all.messages / total_conversations),
      active_users: new Set(users.filter(({ said }) => said > 0).map(({ user_id }) => user_id)).size,
      completion_rate: total_conversations === 0 ? null : round(sum(alive, 'completed') / total_conversations),
      average_response_time_ms: all.replies === 0 ? null : Math.round(all.latency_ms / all.replies),
      p95_response_time_ms: p95 ?? null,
      total_tokens: all.tokens,
      total_cost: all.tokens > 0 && all.unpriced_tokens === all.tokens ? null : all.cost_billionths / 1e9,
      unpriced_tokens: all.unpriced_tokens,
      tool_calls: all.tool_calls,
      by_day: this.#buildSeries(scope, days, begun),
      by_agent: groupByAgent(users, alive),
    }
  }

  #buildSeries(
    { span }: AnalyticsScope,
    said: readonly DayActivity[],
    begun: readonly { day: string; conversations: number }[],
  ): ConversationAnalytics['by_day'] {
    const conversations = new Map(begun.map((one) => [one.day, one.conversations]))
    const activity = new Map(said.map((one) => [one.day, one]))
    const used = [...new Set([...conversations.keys(), ...activity.keys()])].sort()
    return listSeriesDays(span, used, this.#now().toISOString()).map((date) => {
      const { messages, tokens } = activity.get(date) ?? { messages: 0, tokens: 0 }
      return { date, conversations: conversations.get(date) ?? 0, messages, tokens }
    })
  }
}

type DayActivity = Activity & { day: string }

/** Of conversations whose agent was deleted nobody knows any more which it was. */
function groupByAgent(
  users: readonly (Activity & { agent_id: string | null })[],
  alive: readonly ConversationCounts[],
): ConversationAnalytics['by_agent'] {
  const found = new Map(alive.map(({ agent_id, conversations }) => [agent_id, { conversations, messages: 0, tokens: 0 }]))
  for (const { agent_id, messages, tokens } of users) {
    const agent = found.get(agent_id)
    if (!agent) continue
    agent.messages += messages
    agent.tokens += tokens
  }
  found.delete(null)
  return Object.fromEntries(found)
}

function sumActivity(activity: readonly Activity[]): Activity {
  const of = (field: keyof Activity) => sum(activity, field)
  return {
    messages: of('messages'),
    said: of('said'),
    tokens: of('tokens'),
    unpriced_tokens: of('unpriced_tokens'),
    cost_billionths: of('cost_billionths'),
    tool_calls: of('tool_calls'),
    replies: of('replies'),
    latency_ms: of('latency_ms'),
  }
}

const sum = <K extends string>(rows: readonly Record<K, number>[], field: K): number => rows.reduce((total, row) => total + row[field], 0)
const round = (ratio: number): number => Math.round(ratio * 1e4) / 1e4
