/** Conversations with agents, and their messages. */
import { Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { route } from '../route.ts'
import { identifier, jsonObject, nullable, object, optional, resource, stringEnum, timestamp } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const Citation = object({
  index: Type.Integer({ minimum: 1, description: 'The n of [n] in the text.' }),
  source: Type.String({ description: 'Name of the document.' }),
  page: Type.Integer({ minimum: 1, description: 'Page of the passage.' }),
  document_id: identifier('the document'),
  content: Type.String({ description: 'The passage.' }),
  score: Type.Number({ description: 'How well it fits the question.' }),
  cited: Type.Boolean({ description: 'Whether the text refers to it.' }),
  ...optional({
    start: Type.Integer({ minimum: 0, description: "Where it begins in the document's text, in characters." }),
    end: Type.Integer({ minimum: 0, description: 'Where it ends.' }),
    content_hash: Type.String({ description: 'Of the document as it was then.' }),
    stale: Type.Boolean({ description: 'Whether the document no longer says so: it was changed or removed since.' }),
  }),
})
export const ToolCall = object({
  id: Type.String({ description: 'Identifier of the call.' }),
  name: Type.String({ description: 'Name of the tool.' }),
  arguments: jsonObject('What the model passed.'),
  result: Type.Optional(
    Type.Unknown({ description: 'What the tool answered, cut where it is long; of passages the numbers of their citations.' }),
  ),
  error: Type.Optional(Type.String({ description: 'Why the tool failed.' })),
  latency_ms: Type.Optional(Type.Number({ minimum: 0, description: 'How long it took.' })),
  confirmation: Type.Optional(
    stringEnum(['pending', 'allowed', 'refused'], { description: 'What the caller said, where the tool asks first.' }),
  ),
})
export const Usage = object({
  input_tokens: count('Tokens read.'),
  output_tokens: count('Tokens written.'),
  total_tokens: count('Both together.'),
})

export const Message = object(
  {
    id: identifier('the message'),
    role: stringEnum(['user', 'assistant'], { description: 'Who said it.' }),
    content: Type.String({ description: 'What was said.' }),
    timestamp: timestamp('When it was said'),
    ...optional({
      citations: Type.Array(Citation, { description: 'Of replies: every passage the tools gave the model.' }),
      tool_calls: Type.Array(ToolCall, { description: 'Of replies: tools that were used.' }),
      usage: Usage,
      cost: nullable(Type.Number({ minimum: 0, description: 'What it cost; null where the price is not known.' })),
      model_id: nullable(identifier('the model that wrote it')),
      finish_reason: stringEnum(['stop', 'length', 'content_filter', 'steps', 'aborted', 'error', 'interrupted', 'other'], {
        description:
          'Why it ended; steps: it used tools too often; interrupted: the daemon ended before the reply did. Left out while it is being written.',
      }),
      error: Type.String({ description: 'What went wrong, where finish_reason is error.' }),
      error_code: stringEnum(Object.keys(ERRORS) as ErrorCode[], { description: 'The same, for programs.' }),
      latency_ms: Type.Number({ minimum: 0, description: 'How long it took.' }),
    }),
  },
  {
    description: 'One message of a conversation.',
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

const title = Type.String({ minLength: 1, maxLength: 500, description: 'What the conversation is about.' })
const user_id = Type.String({ minLength: 1, maxLength: 200, description: 'Who is talking; the user of the token when left out.' })
const agent_id = identifier('the agent')
const fields = {
  agent_id: nullable(identifier('the agent; null once it was deleted')),
  user_id,
  title: nullable(title),
  status: stringEnum(['active', 'completed'], { description: 'Whether it goes on.' }),
}
const example = { agent_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a', user_id: 'ada' }
const stored = {
  id: 'conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  ...example,
  title: null,
  status: 'active',
  created_at: '2026-01-31T09:30:00.000Z',
  updated_at: '2026-01-31T09:30:00.000Z',
}

export const ConversationItem = resource('conversation', fields, { description: 'A conversation as lists show it.', examples: [stored] })
export const Conversation = resource(
  'conversation',
  { ...fields, messages: Type.Array(Message, { description: 'What was said, oldest first.' }) },
  { description: 'A conversation with its messages.', examples: [{ ...stored, messages: [] }] },
)
export const ConversationCreate = object(
  { agent_id, ...optional({ user_id, title }) },
  { description: 'A new conversation.', examples: [example] },
)
export const ConversationUpdate = object(
  { title: nullable(title) },
  { description: 'What to change of a conversation.', examples: [{ title: 'Leave in summer' }] },
)

export const conversations = {
  name: 'conversations',
  noun: 'conversation',
  path: '/conversations',
  prefix: 'conv',
  item: ConversationItem,
  resource: Conversation,
  create: ConversationCreate,
  update: ConversationUpdate,
  serverFields: ['messages'],
} satisfies Family

const own = crud(conversations, { read: 'meet', change: 'talk' })
const mine = Type.Boolean({
  default: false,
  description: 'Only those of whoever asks: of the user of the token, or without a user where it has none.',
})
const action = { family: 'conversations', params: idParams('conversation') }
const oneMessage = object({ id: identifier('the conversation'), message_id: identifier('the message') })
export const conversationRoutes = {
  ...own,
  list: route({ ...own.list, query: object({ ...own.list.query.properties, ...optional({ mine }) }) }),
  complete: route({
    ...action,
    id: 'conversations.complete',
    method: 'POST',
    path: '/conversations/{id}/complete',
    summary: 'Complete a conversation',
    access: 'talk',
    response: Conversation,
  }),
  messages: route({
    ...action,
    id: 'messages.list',
    method: 'GET',
    path: '/conversations/{id}/messages',
    summary: 'List the messages of a conversation',
    access: 'meet',
    query: listQuery(object({ role: Message.properties.role, created_at: timestamp('When it was said') })),
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
    description: 'Answers with the reply or, with stream true, delivers it as Server-Sent Events.',
    access: 'talk',
    body: object(
      {
        message: Type.String({ minLength: 1, maxLength: 500_000, pattern: '\\S', description: 'What to say.' }),
        ...optional({
          stream: Type.Boolean({ default: false, description: 'Whether the reply comes as events.' }),
          wait: Type.Boolean({
            default: false,
            description: 'Whether to wait for a reply that is being written, rather than be refused with 409.',
          }),
          model_id: identifier("a model to answer this message with, instead of the agent's; members talk with the agent's own"),
        }),
      },
      { examples: [{ message: 'How many days of leave do I have?', stream: false }] },
    ),
    response: Message,
    canStream: true,
    // A character may take six bytes of JSON.
    bodyLimit: 4 * 1024 * 1024,
  }),
  confirm: route({
    family: 'conversations',
    id: 'messages.confirm',
    method: 'POST',
    path: '/conversations/{id}/messages/{message_id}/confirmations',
    summary: 'Allow or refuse a tool call that waits for it',
    access: 'talk',
    params: oneMessage,
    body: object(
      {
        tool_call_id: Type.String({ minLength: 1, maxLength: 500, description: 'The call, as the event named it.' }),
        allow: Type.Boolean({ description: 'Whether the tool may be used.' }),
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
    access: 'meet',
    params: oneMessage,
    response: Type.String(),
    shape: 'events',
  }),
}
