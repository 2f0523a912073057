/** How conversations went, as it is read: whole days from what the database summed up, pieces of days message by message. */

import type { Reader, Value } from '../store/database.ts'
import type { DateRange } from '../validation/date-range.ts'

export interface AnalyticsScope {
  /** From which moment until which. */
  span: DateRange
  /** The whole days of it, and the pieces of days. */
  days: DateRange
  pieces: readonly DateRange[]
  agentId: string | undefined
}

export interface Activity {
  messages: number
  said: number
  tokens: number
  unpriced_tokens: number
  cost_billionths: number
  tool_calls: number
  replies: number
  latency_ms: number
}

const SUMMED_COLUMNS = ['messages', 'said', 'tokens', 'unpriced_tokens', 'cost_billionths', 'tool_calls', 'replies', 'latency_ms'] as const

/** What was said, a row a conversation and day, or a message of a piece of a day. */
function buildMessageQuery({ days, pieces }: AnalyticsScope): { sql: string; values: Value[] } {
  const whole = `SELECT day, conversation_id, ${SUMMED_COLUMNS.join(', ')} FROM conversation_days WHERE day >= ? AND day < ?`
  const json = (path: string) => `json_extract(details, '$.${path}')`
  const isWhole = `role = 'assistant' AND ${json('latency_ms')} IS NOT NULL AND coalesce(${json('finish_reason')}, 'error') NOT IN ('aborted', 'error', 'interrupted')`
  const tokens = `coalesce(${json('usage.total_tokens')}, 0)`
  const piece = `SELECT substr(created_at, 1, 10), conversation_id, 1, role = 'user', ${tokens}, iif(${json('cost')} IS NULL, ${tokens}, 0), CAST(round(coalesce(${json('cost')}, 0) * 1e9) AS INTEGER), coalesce(json_array_length(details, '$.tool_calls'), 0), iif(${isWhole}, 1, 0), iif(${isWhole}, CAST(round(${json('latency_ms')}) AS INTEGER), 0) FROM messages WHERE created_at >= ? AND created_at < ?`
  return {
    sql: `WITH spoken (day, conversation_id, ${SUMMED_COLUMNS.join(', ')}) AS (${[whole, ...pieces.map(() => piece)].join(' UNION ALL ')})`,
    values: [days, ...pieces].flatMap(({ from, until }) => [from, until]),
  }
}

const buildAgentCondition = ({ agentId }: AnalyticsScope): { sql: string; values: Value[] } =>
  agentId === undefined ? { sql: '', values: [] } : { sql: ' AND c.agent_id = ?', values: [agentId] }

/** Joined crosswise, which keeps the order: from an agent's conversations on, SQLite would read all days anew for each of them. */
const buildConversationJoin = (of: 's' | 'r') => ` CROSS JOIN conversations c ON c.id = ${of}.conversation_id`
const SUMS = SUMMED_COLUMNS.map((column) => `sum(s.${column}) AS ${column}`).join(', ')

/** What was said and what it took, by day. */
export async function listActivityByDay(reader: Reader, scope: AnalyticsScope): Promise<(Activity & { day: string })[]> {
  const [said, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  const join = agent.sql === '' ? '' : buildConversationJoin('s')
  return reader.all(`${said.sql} SELECT s.day, ${SUMS} FROM spoken s${join} WHERE true${agent.sql} GROUP BY s.day`, [
    ...said.values,
    ...agent.values,
  ])
}

/** The same by agent and user. */
export async function listActivityByUser(
  reader: Reader,
  scope: AnalyticsScope,
): Promise<(Activity & { agent_id: string | null; user_id: string })[]> {
  const [said, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  return reader.all(
    `${said.sql} SELECT c.agent_id, c.user_id, ${SUMS} FROM spoken s${buildConversationJoin('s')} WHERE true${agent.sql} GROUP BY c.agent_id, c.user_id`,
    [...said.values, ...agent.values],
  )
}

export interface ConversationCounts {
  agent_id: string | null
  conversations: number
  completed: number
}

/** Conversations that were begun or went on, by agent. */
export async function countConversations(reader: Reader, scope: AnalyticsScope): Promise<ConversationCounts[]> {
  const [said, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  const { from, until } = scope.span
  // Nothing is said before a conversation begins: only those that are older than the span need a look at what was said.
  const older =
    from === ''
      ? { sql: '', values: [] }
      : { sql: ' OR (c.created_at < ? AND c.id IN (SELECT conversation_id FROM spoken))', values: [from] }
  return reader.all<ConversationCounts>(
    `${said.sql} SELECT c.agent_id, count(*) AS conversations, sum(c.status = 'completed') AS completed FROM conversations c WHERE ((c.created_at >= ? AND c.created_at < ?)${older.sql})${agent.sql} GROUP BY c.agent_id`,
    [...said.values, from, until, ...older.values, ...agent.values],
  )
}

/** Conversations that were begun, by day. */
export async function countStartedConversations(reader: Reader, scope: AnalyticsScope): Promise<{ day: string; conversations: number }[]> {
  const agent = buildAgentCondition(scope)
  return reader.all(
    `SELECT substr(c.created_at, 1, 10) AS day, count(*) AS conversations FROM conversations c WHERE c.created_at >= ? AND c.created_at < ?${agent.sql} GROUP BY day`,
    [scope.span.from, scope.span.until, ...agent.values],
  )
}

/** The time that so many replies took longer than. Read from the slowest on: of a p95, a twentieth of all is looked at. */
export async function getLatencyPercentile(reader: Reader, scope: AnalyticsScope, slower: number): Promise<number | undefined> {
  const agent = buildAgentCondition(scope)
  const join = agent.sql === '' ? '' : buildConversationJoin('r')
  const [found] = await reader.all<{ latency_ms: number }>(
    `SELECT r.latency_ms FROM reply_times r${join} WHERE r.created_at >= ? AND r.created_at < ?${agent.sql} ORDER BY r.latency_ms DESC LIMIT 1 OFFSET ?`,
    [scope.span.from, scope.span.until, ...agent.values, slower],
  )
  return found?.latency_ms
}
