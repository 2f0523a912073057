/** Analytics: how conversations go. */
import { Type } from 'typebox'
import { route } from '../route.ts'
import { identifier, nullable, object, optional } from '../schemas/fields.ts'
import { day } from './usage.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const measure = (description: string) => nullable(Type.Number({ minimum: 0, description }))

export const ConversationAnalytics = object({
  total_conversations: count('Conversations that were begun or went on.'),
  total_messages: count('What was said, by both sides.'),
  average_messages_per_conversation: Type.Number({ minimum: 0, description: 'Messages a conversation.' }),
  active_users: count('Users who said something.'),
  completion_rate: measure('Share of the conversations that are completed; null where there are none.'),
  average_response_time_ms: measure('Mean time to a whole reply; replies that failed or were aborted are left out.'),
  p95_response_time_ms: measure('Time in which 95 of 100 replies were whole.'),
  total_tokens: count('Tokens in and out.'),
  total_cost: measure('What they cost, as far as prices are known; null where none is known though tokens were used.'),
  unpriced_tokens: count('Of the tokens, those that the cost leaves out because their price is not known.'),
  tool_calls: count('Times a tool was used.'),
  by_day: Type.Array(
    object({
      date: day('The day'),
      conversations: count('Begun that day.'),
      messages: count('Said that day.'),
      tokens: count('Used that day.'),
    }),
    { description: 'Oldest first; days without anything too, unless that makes more than 366.' },
  ),
  by_agent: Type.Record(
    Type.String(),
    object({ conversations: count('With this agent.'), messages: count('In them.'), tokens: count('Used in them.') }),
    {
      description: 'By agent identifier.',
    },
  ),
})

export const analyticsRoutes = {
  conversations: route({
    id: 'analytics.conversations',
    family: 'analytics',
    method: 'GET',
    path: '/analytics/conversations',
    summary: 'How conversations go',
    access: 'read',
    query: object(optional({ start_date: day('First day'), end_date: day('Last day, included'), agent_id: identifier('the agent') })),
    response: ConversationAnalytics,
  }),
}
