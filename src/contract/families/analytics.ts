/** Analytics: statistics about conversations. */
import { Type } from 'typebox'
import { route } from '../route.ts'
import { currency } from '../schemas/currency.ts'
import { count, identifier, measure, namedObject, object, optional } from '../schemas/fields.ts'
import { day } from './usage.ts'

const DailyActivity = namedObject('DailyActivity', 'Conversations of a day.', {
  date: day('Day'),
  conversations: count('Conversations started.'),
  messages: count('Messages sent.'),
  tokens: count('Tokens used.'),
})
const AgentActivity = namedObject('AgentActivity', 'Conversations with an agent.', {
  conversations: count('Conversations with the agent.'),
  messages: count('Messages of these conversations.'),
  tokens: count('Tokens used in these conversations.'),
})

export const ConversationAnalytics = namedObject('ConversationAnalytics', 'Statistics about conversations.', {
  total_conversations: count('Number of conversations started or continued.'),
  total_messages: count('Number of messages, of users and assistants.'),
  average_messages_per_conversation: Type.Number({ minimum: 0, description: 'Average number of messages per conversation.' }),
  active_users: count('Number of users who sent a message.'),
  completion_rate: measure('Share of completed conversations; null if there are none.'),
  average_response_time_ms: measure('Average time to a complete reply, in milliseconds, without failed and aborted replies.'),
  p95_response_time_ms: measure('95th percentile of the time to a complete reply, in milliseconds.'),
  total_tokens: count('Input and output tokens.'),
  total_cost: measure('Cost of the tokens with a known price; null if no price is known.'),
  currency,
  unpriced_tokens: count('Tokens without a known price, which are not part of the cost.'),
  tool_calls: count('Number of tool calls.'),
  by_day: Type.Array(DailyActivity, {
    description: 'Statistics per day, oldest first. Days without activity are included unless the period has more than 366 days.',
  }),
  by_agent: Type.Record(Type.String(), AgentActivity, { description: 'Statistics per agent, by agent identifier.' }),
})

export const analyticsRoutes = {
  conversations: route({
    id: 'analytics.conversations',
    family: 'analytics',
    method: 'GET',
    path: '/analytics/conversations',
    summary: 'Get conversation statistics',
    access: 'read',
    query: object(optional({ start_date: day('First day'), end_date: day('Last day, inclusive'), agent_id: identifier('the agent') })),
    response: ConversationAnalytics,
  }),
}
