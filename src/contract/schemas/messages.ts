/** Messages of conversations, with their citations and tool calls. */
import { type Static, Type } from 'typebox'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { confidence } from './confidence.ts'
import { count, flag, identifier, integer, jsonObject, namedObject, nullable, optional, stringEnum, timestamp } from './fields.ts'
import { Usage } from './usage.ts'

export type Citation = Static<typeof Citation>
export const Citation = namedObject('Citation', 'A reference from a reply to a passage.', {
  index: integer('Number of the citation: n of [n] in the text.', { minimum: 1 }),
  source: Type.String({ description: 'Name of the document.' }),
  page: integer('Page of the passage, from 1.', { minimum: 1 }),
  document_id: identifier('the document'),
  content: Type.String({ description: 'Text of the passage.' }),
  score: Type.Number({ description: 'Relevance of the passage; higher is better.' }),
  cited: flag('Whether the text cites the passage.'),
  ...optional({
    place: Type.String({ description: 'Place of the passage if it is not a page, such as `slide 3` or `sheet Budget`.' }),
    headings: Type.String({ description: 'Headings above the passage, outermost first, joined with " › ".' }),
    start: count("Start of the passage in the document's text, in characters."),
    end: count("End of the passage in the document's text, in characters."),
    content_hash: Type.String({ description: 'Content hash of the document at that time.' }),
    stale: flag('Whether the document was changed or deleted after it was indexed or cited.'),
  }),
})
export type ToolCall = Static<typeof ToolCall>
export const ToolCall = namedObject('ToolCall', 'A use of a tool in a reply.', {
  id: Type.String({ description: 'Identifier of the tool call.' }),
  name: Type.String({ description: 'Name of the tool.' }),
  arguments: jsonObject('Arguments from the model, or as changed by the user who confirmed the call.'),
  ...optional({
    result: Type.Unknown({ description: 'Result of the tool, truncated if it is long; for passages, the numbers of their citations.' }),
    error: Type.String({ description: 'Error message if the tool call failed.' }),
    latency_ms: Type.Number({
      minimum: 0,
      description: 'Duration of the tool call, in milliseconds, without the time until it was confirmed.',
    }),
    confirmation: stringEnum(['pending', 'allowed', 'refused'], { description: 'Status of the confirmation, if the tool requires one.' }),
  }),
})

export type Message = Static<typeof Message>
export const Message = namedObject(
  'Message',
  'A message of a conversation.',
  {
    id: identifier('the message'),
    role: stringEnum(['user', 'assistant'], { description: 'Author of the message.' }),
    content: Type.String({ description: 'Text of the message.' }),
    timestamp: timestamp('Time of the message'),
    ...optional({
      user_id: Type.String({ description: 'User who sent the message, if that is not the user of the conversation.' }),
      citations: Type.Array(Citation, { description: 'Replies only: all passages that the model received.' }),
      confidence,
      tool_calls: Type.Array(ToolCall, { description: 'Replies only: tool calls.' }),
      reasoning: Type.String({ description: 'Replies only: what the model wrote before its answer, if the provider returns it.' }),
      usage: Usage,
      context_tokens: count('Replies only: input and output tokens of the last model call, which is what the context of the model holds.'),
      summarized_messages: count('Replies only: number of earlier messages that the model read as a summary.'),
      omitted_messages: count('Replies only: number of earlier messages that the model did not read, because they did not fit.'),
      cost: nullable(Type.Number({ minimum: 0, description: 'Cost of the reply; null if the price is unknown.' })),
      model_id: nullable(identifier('the model that wrote the reply')),
      finish_reason: stringEnum(['stop', 'length', 'content_filter', 'tool_calls', 'steps', 'aborted', 'error', 'interrupted', 'other'], {
        description:
          'Why the reply ended. tool_calls: the client executes its own tools; steps: too many tool steps; interrupted: the daemon ' +
          'stopped. Absent while the reply is in progress.',
      }),
      error: Type.String({ description: 'Error message, if finish_reason is error.' }),
      error_code: stringEnum(Object.keys(ERRORS) as ErrorCode[], { description: 'Error code, if finish_reason is error.' }),
      latency_ms: Type.Number({ minimum: 0, description: 'Duration of the reply, in milliseconds.' }),
    }),
  },
  [
    {
      id: 'msg_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
      role: 'user',
      content: 'How many days of leave do I have?',
      timestamp: '2026-01-31T09:30:00.000Z',
    },
  ],
)

/** Whether a message is a reply that ended on its own. A reply without a finish reason was interrupted, unless it is being written. */
export const isComplete = ({ finish_reason = 'interrupted' }: Message): boolean =>
  !['error', 'aborted', 'interrupted'].includes(finish_reason)
