/** Conversations with agents and their messages. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, idParams, updateBody } from '../crud.ts'
import { REPLY_EVENTS } from '../reply-events.ts'
import { route } from '../route.ts'
import {
  count,
  createExample,
  flag,
  identifier,
  jsonObject,
  namedObject,
  nonBlankText,
  nonEmptyText,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
  timestamp,
} from '../schemas/fields.ts'
import { MAX_IMAGE_BODY_BYTES, MAX_IMAGES, MessageImage } from '../schemas/images.ts'
import { listQuery, MAX_LIMIT } from '../schemas/list-query.ts'
import { Message, ToolCall } from '../schemas/messages.ts'
import { ConversationSummary } from '../schemas/summaries.ts'
import { day } from './usage.ts'

const title = nonEmptyText('Title of the conversation.', 500)
const user_id = nonEmptyText('User of the conversation. Default: the user of the token.', 200)
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
export const ConversationItem = resource('conversation', fields, {
  title: 'ConversationItem',
  description: 'A conversation in a list.',
  examples: [stored],
})
const Highlight = namedObject('Highlight', 'A part of a snippet that matches the search.', {
  start: count('Position of the first character, in UTF-16 code units.'),
  end: count('Position after the last character.'),
})
export type ConversationMatch = Static<typeof ConversationMatch>
export const ConversationMatch = namedObject('ConversationMatch', 'A message that matches a search.', {
  message_id: identifier('the message'),
  role: Message.properties.role,
  timestamp: Message.properties.timestamp,
  snippet: Type.String({ description: 'The part of the message that matches, with line breaks replaced by spaces.' }),
  highlights: Type.Array(Highlight, { description: 'The words found in the snippet, in order.' }),
})
export type ConversationSearchItem = Static<typeof ConversationSearchItem>
/** The fields of a search are added to a list with q only. */
const ConversationSearchItem = namedObject(
  'ConversationItem',
  'A conversation in a list. With q, also the newest message that matches.',
  {
    ...ConversationItem.properties,
    ...optional({ match_count: count('With q: number of messages that match.'), match: ConversationMatch }),
  },
  [stored],
)
/** Messages in a conversation, and in a page of its messages. */
export const MAX_MESSAGES = MAX_LIMIT

export type Conversation = Static<typeof Conversation>
export const Conversation = resource(
  'conversation',
  {
    ...fields,
    messages: Type.Array(Message, {
      maxItems: MAX_MESSAGES,
      description: `The newest ${MAX_MESSAGES} messages, oldest first. For earlier ones, see \`GET /conversations/{id}/messages\`.`,
    }),
    message_count: count('Number of all messages of the conversation.'),
    summary: nullable(ConversationSummary),
  },
  { description: 'A conversation with its messages.', examples: [{ ...stored, messages: [], message_count: 0, summary: null }] },
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
  serverFields: ['messages', 'message_count', 'summary'],
  computedFields: ['message_count', 'summary'],
})

// An update may contain the messages, as they were read.
const routes = createCrudRoutes(conversations, { read: 'any', change: 'chat', bodyLimit: 16 * 1024 * 1024 })
const mine = flag('Whether to list only conversations of the user of the token.', false)
const search = optional({
  q: nonEmptyText(
    'Words that one message contains, without regard to case and accents. A word of three or more letters also matches the ' +
      'beginning of a word; "double quotes" match a phrase.',
    500,
  ),
  start_date: day('With q: first day of matching messages'),
  end_date: day('With q: last day of matching messages, inclusive'),
})
const action = { family: 'conversations', params: idParams('conversation') }
const oneMessage = object({ id: identifier('the conversation'), message_id: identifier('the message') })
export const conversationRoutes = {
  ...routes,
  remove: route({
    ...routes.remove,
    description:
      'Memories that come from the conversation are kept. To delete them too: ' +
      '`DELETE /api/memories?conversation_id={id}&user_id={user_id}`.',
  }),
  list: route({
    ...routes.list,
    summary: 'List or search conversations',
    query: object({ ...routes.list.query.properties, ...optional({ mine }), ...search }),
    response: ConversationSearchItem,
  }),
  complete: route({
    ...createAction(conversations, 'complete'),
    summary: 'Complete a conversation',
    access: 'chat',
    response: Conversation,
    changesResource: true,
  }),
  compact: route({
    ...createAction(conversations, 'compact'),
    summary: 'Summarize the earlier messages of a conversation',
    description:
      "The agent's model summarizes all messages except the latest ones, which takes a model call. Cadre does this by itself when " +
      'they no longer fit the context window. Messages are not deleted.',
    access: 'chat',
    callsModel: true,
    callsExternalService: true,
    body: namedObject(
      'ConversationCompact',
      'How to summarize the conversation.',
      optional({
        instructions: nonBlankText('What the summary should focus on.', 2_000),
      }),
      [{ instructions: 'Keep all figures of the budget' }],
    ),
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
    callsModel: true,
    callsExternalService: true,
    method: 'POST',
    path: '/conversations/{id}/messages',
    summary: 'Send a message',
    description:
      'Returns the reply, or streams it as server-sent events if stream is true. If a tool call requires confirmation, a reply that ' +
      'is not streamed is returned at once, without a finish_reason and with the pending call: confirm or refuse it, then send ' +
      'retry to wait for the rest. After an error or a lost connection, repeat the request with the same Idempotency-Key or with ' +
      'retry: the message is not stored twice.',
    access: 'chat',
    body: namedObject(
      'MessageCreate',
      'A new message, or a retry of the last one.',
      optional({
        message: nonBlankText('Text of the message. Required unless retry or replace is true.', 500_000),
        images: Type.Array(MessageImage, {
          maxItems: MAX_IMAGES,
          description: 'Images for the model, which must read images. They are not stored: the message then ends with `[image]`.',
        }),
        retry: flag(
          'Whether to answer the last message of the conversation again if its reply failed, was aborted or was interrupted. ' +
            'A complete reply is returned as it is. If message is given and differs from the last message, it is sent.',
          false,
        ),
        replace: flag(
          'Whether to replace the reply to the last message, even if it is complete. ' +
            'If message is given, it replaces the last message.',
          false,
        ),
        stream: flag('Whether to stream the reply as events.', false),
        wait: flag('Whether to wait for a reply in progress, instead of failing with 409.', false),
        model_id: identifier("the model for this message, instead of the agent's; not available to members"),
      }),
      [{ message: 'How many days of leave do I have?', stream: false }],
    ),
    isBodyRequired: true,
    response: Message,
    events: REPLY_EVENTS,
    bodyLimit: MAX_IMAGE_BODY_BYTES,
  }),
  confirm: route({
    family: 'conversations',
    id: 'messages.confirm',
    callsModel: true,
    method: 'POST',
    path: '/conversations/{id}/messages/{message_id}/confirmations',
    summary: 'Confirm or refuse a pending tool call',
    access: 'chat',
    params: oneMessage,
    body: namedObject(
      'Confirmation',
      'The answer to a tool call that requires confirmation.',
      {
        tool_call_id: nonEmptyText('Identifier of the tool call, from the confirmation_required event or the pending reply.', 500),
        ...optional({
          allow: flag(
            'Whether to execute the tool call. Without it, the call stays pending, and the response shows the request ' +
              'that it would send with these arguments.',
          ),
          arguments: jsonObject('Arguments to use instead of those from the model. Not if the call is refused.'),
        }),
      },
      [{ tool_call_id: 'call_1', allow: true }],
    ),
    response: namedObject('ConfirmedToolCall', 'The tool call after the answer.', {
      ...ToolCall.properties,
      ...optional({
        method: Type.String({ description: 'HTTP method of an API tool. Only without `allow`.' }),
        url: Type.String({ description: 'URL that an API tool would request, without credentials. Only without `allow`.' }),
      }),
    }),
  }),
  events: route({
    family: 'conversations',
    id: 'messages.events',
    method: 'GET',
    path: '/conversations/{id}/messages/{message_id}/events',
    summary: 'Follow a reply',
    description:
      'Streams the events of a reply from the first, or from the one after Last-Event-ID. The last event is message_end or error. ' +
      'Of a reply that ended a while ago, only message_start, its whole text and the last event are streamed.',
    access: 'any',
    params: oneMessage,
    response: Type.String(),
    shape: 'events',
    events: REPLY_EVENTS,
    isResumable: true,
  }),
}
