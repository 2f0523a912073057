/** Conversations with agents and their messages. */
import { type Static, Type } from 'typebox'
import { createBody, createCrudRoutes, createFamily, idParams, updateBody } from '../crud.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { route } from '../route.ts'
import {
  count,
  createExample,
  identifier,
  jsonObject,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
  timestamp,
} from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

export type Citation = Static<typeof Citation>
export const Citation = object({
  index: Type.Integer({ minimum: 1, description: 'Number of the citation: n of [n] in the text.' }),
  source: Type.String({ description: 'Name of the document.' }),
  page: Type.Integer({ minimum: 1, description: 'Page of the passage, from 1.' }),
  document_id: identifier('the document'),
  content: Type.String({ description: 'Text of the passage.' }),
  score: Type.Number({ description: 'Relevance of the passage; higher is better.' }),
  cited: Type.Boolean({ description: 'Whether the text cites the passage.' }),
  ...optional({
    start: Type.Integer({ minimum: 0, description: "Start of the passage in the document's text, in characters." }),
    end: Type.Integer({ minimum: 0, description: "End of the passage in the document's text, in characters." }),
    content_hash: Type.String({ description: 'Content hash of the document at that time.' }),
    stale: Type.Boolean({ description: 'Whether the document was changed or removed since.' }),
  }),
})
export type ToolCall = Static<typeof ToolCall>
export const ToolCall = object({
  id: Type.String({ description: 'Identifier of the tool call.' }),
  name: Type.String({ description: 'Name of the tool.' }),
  arguments: jsonObject('Arguments from the model.'),
  result: Type.Optional(
    Type.Unknown({ description: 'Result of the tool, truncated if it is long; for passages, the numbers of their citations.' }),
  ),
  error: Type.Optional(Type.String({ description: 'Error message if the tool call failed.' })),
  latency_ms: Type.Optional(Type.Number({ minimum: 0, description: 'Duration of the tool call, in milliseconds.' })),
  confirmation: Type.Optional(
    stringEnum(['pending', 'allowed', 'refused'], { description: 'Status of the confirmation, if the tool requires one.' }),
  ),
})
export type Usage = Static<typeof Usage>
export const Usage = object({
  input_tokens: count('Input tokens.'),
  output_tokens: count('Output tokens.'),
  total_tokens: count('Input and output tokens.'),
})

export type Message = Static<typeof Message>
export const Message = object(
  {
    id: identifier('the message'),
    role: stringEnum(['user', 'assistant'], { description: 'Author of the message.' }),
    content: Type.String({ description: 'Text of the message.' }),
    timestamp: timestamp('Time of the message'),
    ...optional({
      citations: Type.Array(Citation, { description: 'Replies only: all passages that the model received.' }),
      tool_calls: Type.Array(ToolCall, { description: 'Replies only: tool calls.' }),
      usage: Usage,
      cost: nullable(Type.Number({ minimum: 0, description: 'Cost of the reply; null if the price is unknown.' })),
      model_id: nullable(identifier('the model that wrote the reply')),
      finish_reason: stringEnum(['stop', 'length', 'content_filter', 'steps', 'aborted', 'error', 'interrupted', 'other'], {
        description:
          'Why the reply ended. steps: too many tool steps; interrupted: the daemon stopped. Absent while the reply is in progress.',
      }),
      error: Type.String({ description: 'Error message, if finish_reason is error.' }),
      error_code: stringEnum(Object.keys(ERRORS) as ErrorCode[], { description: 'Error code, if finish_reason is error.' }),
      latency_ms: Type.Number({ minimum: 0, description: 'Duration of the reply, in milliseconds.' }),
    }),
  },
  {
    description: 'A message of a conversation.',
    examples: [
      {
        id: 'msg_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        role: 'user',
        content: 'How many days of leave do I have?',
        timestamp: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)

/** Whether a message is a reply that ended on its own. A reply without a finish reason was interrupted, unless it is being written. */
export const isComplete = ({ finish_reason = 'interrupted' }: Message): boolean =>
  !['error', 'aborted', 'interrupted'].includes(finish_reason)

const title = Type.String({ minLength: 1, maxLength: 500, description: 'Title of the conversation.' })
const user_id = Type.String({ minLength: 1, maxLength: 200, description: 'User of the conversation. Default: the user of the token.' })
const agent_id = identifier('the agent')
const fields = {
  agent_id: nullable(identifier('the agent; null if it was deleted')),
  user_id,
  title: nullable(title),
  status: stringEnum(['active', 'completed'], { description: 'Status of the conversation.' }),
}
const example = { agent_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a', user_id: 'ada' }
const stored = createExample('conv', { ...example, title: null, status: 'active' })

export type ConversationItem = Static<typeof ConversationItem>
export const ConversationItem = resource('conversation', fields, { description: 'A conversation in a list.', examples: [stored] })
export type Conversation = Static<typeof Conversation>
export const Conversation = resource(
  'conversation',
  { ...fields, messages: Type.Array(Message, { description: 'Messages, oldest first.' }) },
  { description: 'A conversation with its messages.', examples: [{ ...stored, messages: [] }] },
)
export const ConversationCreate = createBody('conversation', { agent_id }, { user_id, title }, example)
const ConversationUpdate = updateBody('conversation', { title: nullable(title) }, { title: 'Leave in summer' })

export const conversations = createFamily({
  name: 'conversations',
  noun: 'conversation',
  prefix: 'conv',
  item: ConversationItem,
  resource: Conversation,
  create: ConversationCreate,
  update: ConversationUpdate,
  serverFields: ['messages'],
})

// An update may contain the messages, as they were read.
const routes = createCrudRoutes(conversations, { read: 'any', change: 'chat', bodyLimit: 16 * 1024 * 1024 })
const mine = Type.Boolean({
  default: false,
  description: 'Whether to list only conversations of the user of the token.',
})
const action = { family: 'conversations', params: idParams('conversation') }
const oneMessage = object({ id: identifier('the conversation'), message_id: identifier('the message') })
export const conversationRoutes = {
  ...routes,
  list: route({ ...routes.list, query: object({ ...routes.list.query.properties, ...optional({ mine }) }) }),
  complete: route({
    ...action,
    id: 'conversations.complete',
    method: 'POST',
    path: '/conversations/{id}/complete',
    summary: 'Complete a conversation',
    access: 'chat',
    response: Conversation,
  }),
  messages: route({
    ...action,
    id: 'messages.list',
    method: 'GET',
    path: '/conversations/{id}/messages',
    summary: 'List the messages of a conversation',
    access: 'any',
    query: listQuery(object({ role: Message.properties.role, created_at: timestamp('Time of the message') })),
    response: Message,
    shape: 'page',
  }),
  send: route({
    ...action,
    id: 'messages.send',
    callsExternalService: true,
    method: 'POST',
    path: '/conversations/{id}/messages',
    summary: 'Send a message',
    description:
      'Returns the reply, or streams it as server-sent events if stream is true. After an error or a lost connection, repeat the ' +
      'request with the same Idempotency-Key or with retry: the message is not stored twice.',
    access: 'chat',
    body: object(
      {
        ...optional({
          message: Type.String({
            minLength: 1,
            maxLength: 500_000,
            pattern: '\\S',
            description: 'Text of the message. Required unless retry is true.',
          }),
          retry: Type.Boolean({
            default: false,
            description:
              'Whether to answer the last message of the conversation again if its reply failed, was aborted or was interrupted. ' +
              'A complete reply is returned as it is. If message is given and differs from the last message, it is sent.',
          }),
          stream: Type.Boolean({ default: false, description: 'Whether to stream the reply as events.' }),
          wait: Type.Boolean({
            default: false,
            description: 'Whether to wait for a reply in progress, instead of failing with 409.',
          }),
          model_id: identifier("the model for this message, instead of the agent's; not available to members"),
        }),
      },
      { examples: [{ message: 'How many days of leave do I have?', stream: false }] },
    ),
    response: Message,
    // A character takes up to six bytes in JSON.
    bodyLimit: 4 * 1024 * 1024,
  }),
  confirm: route({
    family: 'conversations',
    id: 'messages.confirm',
    method: 'POST',
    path: '/conversations/{id}/messages/{message_id}/confirmations',
    summary: 'Confirm or refuse a pending tool call',
    access: 'chat',
    params: oneMessage,
    body: object(
      {
        tool_call_id: Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Identifier of the tool call, from the confirmation_required event.',
        }),
        allow: Type.Boolean({ description: 'Whether to execute the tool call.' }),
      },
      { examples: [{ tool_call_id: 'call_1', allow: true }] },
    ),
    response: ToolCall,
  }),
  events: route({
    family: 'conversations',
    id: 'messages.events',
    method: 'GET',
    path: '/conversations/{id}/messages/{message_id}/events',
    summary: 'Follow a reply',
    access: 'any',
    params: oneMessage,
    response: Type.String(),
    shape: 'events',
  }),
}
