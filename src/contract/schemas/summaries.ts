/** Summaries of the earlier messages of conversations. */
import { type Static, Type } from 'typebox'
import { count, identifier, namedObject, nullable, timestamp } from './fields.ts'

export type ConversationSummary = Static<typeof ConversationSummary>
export const ConversationSummary = namedObject(
  'ConversationSummary',
  'A summary of the earlier messages, written when they no longer fit the context window.',
  {
    content: Type.String({ description: 'Text of the summary, which the model reads instead of the messages.' }),
    message_count: count('Number of messages that it covers, from the first one.'),
    last_message_id: identifier('the last message that it covers'),
    model_id: nullable(identifier('the model that wrote it')),
    updated_at: timestamp('Time at which it was written'),
  },
)
