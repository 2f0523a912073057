/** The events of a reply in progress, for the daemon, `cadre ask` and the chat. */
import { type Static, Type } from 'typebox'
import { ErrorEvent } from './schemas/error-event.ts'
import { identifier, jsonObject, namedObject, nullable, optional } from './schemas/fields.ts'
import { Citation, Message, ToolCall } from './schemas/messages.ts'

const { id, name, arguments: callArguments, result, error, latency_ms, confirmation } = ToolCall.properties
const citations = Type.Array(Citation, { description: 'Passages, numbered as in the citations of the text.' })

export const REPLY_EVENTS = {
  message_start: namedObject('MessageStartEvent', 'Data of `message_start`, the first event of a reply.', {
    conversation_id: identifier('the conversation'),
    message_id: identifier('the reply'),
    user_message_id: identifier('the message that the reply answers'),
    model_id: Type.String({ description: 'Identifier of the model, or empty if it was deleted.' }),
    agent_id: nullable(identifier('the agent; null if it was deleted')),
  }),
  retrieval: namedObject('RetrievalEvent', 'Data of `retrieval`: passages for a model that cannot call tools.', { citations }),
  tool_call: namedObject('ToolCallEvent', 'Data of `tool_call`: the model calls a tool.', { id, name, arguments: callArguments }),
  confirmation_required: namedObject(
    'ConfirmationRequiredEvent',
    'Data of `confirmation_required`: the tool call waits until it is confirmed or refused with ' +
      'POST /api/conversations/{id}/messages/{message_id}/confirmations.',
    {
      id,
      name,
      arguments: callArguments,
      ...optional({
        tool_id: identifier('the tool; missing if calls cannot be allowed for good'),
        method: Type.String({ description: 'HTTP method of an API tool.' }),
        url: Type.String({ description: 'URL that an API tool requests with these arguments, without credentials.' }),
        reason: Type.String({ description: 'Why this call requires confirmation, if the tool does not always require it.' }),
      }),
    },
    [
      {
        id: 'call_1',
        name: 'create_ticket',
        arguments: { title: 'Broken printer' },
        tool_id: 'api_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        method: 'POST',
        url: 'https://tickets.example.com/tickets',
      },
    ],
  ),
  tool_result: namedObject('ToolResultEvent', 'Data of `tool_result`: the result of a tool call, or its error.', {
    id,
    name,
    result,
    error,
    latency_ms,
    confirmation,
    ...optional({ citations, arguments: jsonObject('Arguments as changed by the user, if the confirmation contained others.') }),
  }),
  reasoning_delta: namedObject(
    'ReasoningDeltaEvent',
    'Data of `reasoning_delta`: a part of what the model writes before its answer, if the provider returns it.',
    { text: Type.String({ description: 'The next part of the reasoning.' }) },
    [{ text: 'The user asks about leave.' }],
  ),
  message_delta: namedObject(
    'MessageDeltaEvent',
    'Data of `message_delta`: a part of the text.',
    { text: Type.String({ description: 'The next part of the text.' }) },
    [{ text: 'Twenty-five' }],
  ),
  message_end: namedObject('MessageEndEvent', 'Data of `message_end`, the last event of a completed or aborted reply.', {
    message: Message,
  }),
  /** The last event of a failed reply. The message contains the text so far. */
  error: ErrorEvent,
}

export type ReplyEvents = { [Name in keyof typeof REPLY_EVENTS]: Static<(typeof REPLY_EVENTS)[Name]> }
export type ReplyEventName = keyof ReplyEvents
export type ReplyEvent = { [Name in ReplyEventName]: { event: Name; data: ReplyEvents[Name]; id?: string } }[ReplyEventName]

export const TERMINAL_EVENTS: readonly ReplyEventName[] = ['message_end', 'error']
