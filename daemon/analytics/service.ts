/** Analytics: how conversations went. */
import type { Static } from 'typebox'
import type { ConversationAnalytics } from '../../src/contract/families/analytics.ts'
import type { Database } from '../store/database.ts'
import { listSeriesDays, parseDateRange, splitWholeDays } from '../validation/date-range.ts'
import {
  type Activity,
  type Alive,
  activityByDay,
  activityByUser,
  conversationsAlive,
  conversationsBegun,
  latencyBelow,
  type Scope,
} from './store.ts'

export interface AnalyticsQuery {
  start_date?: string
  end_date?: string
  agent_id?: string
}

type Shown = Static<typeof ConversationAnalytics>

export class AnalyticsService {
  readonly #database: Database
  readonly #now: () => Date

  constructor(database: Database, now: () => Date) {
    this.#database = database
    this.#now = now
  }

  async conversations({ agent_id, ...dates }: AnalyticsQuery): Promise<Shown> {
    const span = parseDateRange(dates)
    const scope: Scope = { span, ...splitWholeDays(span), agentId: agent_id }
    // Asked for in one go, so that nothing is said between them and all figures agree.
    const [days, users, alive, begun] = await Promise.all([
      activityByDay(this.#database, scope),
      activityByUser(this.#database, scope),
      conversationsAlive(this.#database, scope),
      conversationsBegun(this.#database, scope),
    ])
    const all = added(days)
    const total_conversations = sum(alive, 'conversations')
    const slower = all.replies - Math.ceil((all.replies * 95) / 100)
    const p95 = all.replies === 0 ? undefined : await latencyBelow(this.#database, scope, slower)
    return {
      total_conversations,
      total_messages: all.messages,
      average_messages_per_conversation: total_conversations === 0 ? 0 : rounded(all.messages / total_conversations),
      active_users: new Set(users.filter(({ said }) => said > 0).map(({ user_id }) => user_id)).size,
      completion_rate: total_conversations === 0 ? null : rounded(sum(alive, 'completed') / total_conversations),
      average_response_time_ms: all.replies === 0 ? null : Math.round(all.latency_ms / all.replies),
      p95_response_time_ms: p95 ?? null,
      total_tokens: all.tokens,
      total_cost: all.tokens > 0 && all.unpriced_tokens === all.tokens ? null : all.cost_billionths / 1e9,
      unpriced_tokens: all.unpriced_tokens,
      tool_calls: all.tool_calls,
      by_day: this.#series(scope, days, begun),
      by_agent: byAgent(users, alive),
    }
  }

  #series({ span }: Scope, said: readonly Said[], begun: readonly { day: string; conversations: number }[]): Shown['by_day'] {
    const conversations = new Map(begun.map((one) => [one.day, one.conversations]))
    const activity = new Map(said.map((one) => [one.day, one]))
    const used = [...new Set([...conversations.keys(), ...activity.keys()])].sort()
    return listSeriesDays(span, used, this.#now().toISOString()).map((date) => {
      const { messages, tokens } = activity.get(date) ?? { messages: 0, tokens: 0 }
      return { date, conversations: conversations.get(date) ?? 0, messages, tokens }
    })
  }
}

type Said = Activity & { day: string }

/** Of conversations whose agent was deleted nobody knows any more which it was. */
function byAgent(users: readonly (Activity & { agent_id: string | null })[], alive: readonly Alive[]): Shown['by_agent'] {
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

function added(activity: readonly Activity[]): Activity {
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
const rounded = (ratio: number): number => Math.round(ratio * 1e4) / 1e4
