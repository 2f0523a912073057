/** Queries for analytics: whole days from stored sums, partial days from messages. */
import type { DatabaseReader, Value } from '../store/database.ts'
import type { DateRange } from '../validation/date-range.ts'

export interface AnalyticsScope {
  span: DateRange
  /** The whole days of the span, and the partial days at its ends. */
  days: DateRange
  pieces: readonly DateRange[]
  agentId: string | undefined
}

export const SUMMED_COLUMNS = [
  'messages',
  'said',
  'tokens',
  'unpriced_tokens',
  'cost_billionths',
  'tool_calls',
  'replies',
  'latency_ms',
] as const
export type Activity = Record<(typeof SUMMED_COLUMNS)[number], number>

/** One row per conversation and day, or per message of a partial day. */
function buildMessageQuery({ days, pieces }: AnalyticsScope): { sql: string; values: Value[] } {
  const wholeDays = `SELECT day, conversation_id, ${SUMMED_COLUMNS.join(', ')} FROM conversation_days WHERE day >= ? AND day < ?`
  const json = (path: string) => `json_extract(details, '$.${path}')`
  const isComplete = `role = 'assistant' AND ${json('latency_ms')} IS NOT NULL
    AND coalesce(${json('finish_reason')}, 'error') NOT IN ('aborted', 'error', 'interrupted')`
  const tokens = `coalesce(${json('usage.total_tokens')}, 0)`
  const piece = `SELECT substr(created_at, 1, 10), conversation_id, 1, role = 'user', ${tokens},
      iif(${json('cost')} IS NULL, ${tokens}, 0), CAST(round(coalesce(${json('cost')}, 0) * 1e9) AS INTEGER),
      coalesce(json_array_length(details, '$.tool_calls'), 0), iif(${isComplete}, 1, 0),
      iif(${isComplete}, CAST(round(${json('latency_ms')}) AS INTEGER), 0)
    FROM messages WHERE created_at >= ? AND created_at < ?`
  const parts = [wholeDays, ...pieces.map(() => piece)].join(' UNION ALL ')
  return {
    sql: `WITH activity (day, conversation_id, ${SUMMED_COLUMNS.join(', ')}) AS (${parts})`,
    values: [days, ...pieces].flatMap(({ from, until }) => [from, until]),
  }
}

/** The agent of a conversation, also if it was deleted. */
const AGENT_ID = 'coalesce(c.agent_id, c.deleted_agent_id)'

/** Compares both columns, because AGENT_ID has no index. */
const buildAgentCondition = ({ agentId }: AnalyticsScope): { sql: string; values: Value[] } =>
  agentId === undefined ? { sql: '', values: [] } : { sql: ' AND (c.agent_id = ? OR c.deleted_agent_id = ?)', values: [agentId, agentId] }

/** CROSS JOIN fixes the join order: SQLite would otherwise scan all days for each conversation of an agent. */
const buildConversationJoin = (table: 's' | 'r') => ` CROSS JOIN conversations c ON c.id = ${table}.conversation_id`
const SUMS = SUMMED_COLUMNS.map((column) => `sum(s.${column}) AS ${column}`).join(', ')

export async function listActivityByDay(reader: DatabaseReader, scope: AnalyticsScope): Promise<(Activity & { day: string })[]> {
  const [activity, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  const join = agent.sql === '' ? '' : buildConversationJoin('s')
  return reader.all(`${activity.sql} SELECT s.day, ${SUMS} FROM activity s${join} WHERE true${agent.sql} GROUP BY s.day`, [
    ...activity.values,
    ...agent.values,
  ])
}

export async function listActivityByUser(
  reader: DatabaseReader,
  scope: AnalyticsScope,
): Promise<(Activity & { agent_id: string | null; user_id: string })[]> {
  const [activity, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  return reader.all(
    `${activity.sql} SELECT ${AGENT_ID} AS agent_id, c.user_id, ${SUMS} FROM activity s${buildConversationJoin('s')}
     WHERE true${agent.sql} GROUP BY ${AGENT_ID}, c.user_id`,
    [...activity.values, ...agent.values],
  )
}

export interface ConversationCounts {
  agent_id: string | null
  conversations: number
  completed: number
}

/** Counts conversations with activity, by agent. */
export async function countConversations(reader: DatabaseReader, scope: AnalyticsScope): Promise<ConversationCounts[]> {
  const [activity, agent] = [buildMessageQuery(scope), buildAgentCondition(scope)]
  const { from, until } = scope.span
  // Messages are only needed for conversations that started before the span.
  const older =
    from === ''
      ? { sql: '', values: [] }
      : { sql: ' OR (c.created_at < ? AND c.id IN (SELECT conversation_id FROM activity))', values: [from] }
  return reader.all<ConversationCounts>(
    `${activity.sql} SELECT ${AGENT_ID} AS agent_id, count(*) AS conversations, sum(c.status = 'completed') AS completed
     FROM conversations c WHERE ((c.created_at >= ? AND c.created_at < ?)${older.sql})${agent.sql} GROUP BY ${AGENT_ID}`,
    [...activity.values, from, until, ...older.values, ...agent.values],
  )
}

export async function countStartedConversations(
  reader: DatabaseReader,
  scope: AnalyticsScope,
): Promise<{ day: string; conversations: number }[]> {
  const agent = buildAgentCondition(scope)
  return reader.all(
    `SELECT substr(c.created_at, 1, 10) AS day, count(*) AS conversations FROM conversations c
     WHERE c.created_at >= ? AND c.created_at < ?${agent.sql} GROUP BY day`,
    [scope.span.from, scope.span.until, ...agent.values],
  )
}

/** Returns the latency that `slower` replies exceed. Reads from the slowest: a p95 scans 5 % of the rows. */
export async function getLatencyPercentile(reader: DatabaseReader, scope: AnalyticsScope, slower: number): Promise<number | undefined> {
  const agent = buildAgentCondition(scope)
  const join = agent.sql === '' ? '' : buildConversationJoin('r')
  const [row] = await reader.all<{ latency_ms: number }>(
    `SELECT r.latency_ms FROM reply_times r${join} WHERE r.created_at >= ? AND r.created_at < ?${agent.sql}
     ORDER BY r.latency_ms DESC LIMIT 1 OFFSET ?`,
    [scope.span.from, scope.span.until, ...agent.values, slower],
  )
  return row?.latency_ms
}
