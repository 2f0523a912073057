import { conversationRoutes } from '../../src/contract/families/conversations.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { MessagesService, StoredSend } from './message-service.ts'
import type { ConversationsService } from './service.ts'
import type { CompactService } from './summaries/compact-service.ts'

export const bindConversationRoutes = (
  conversations: ConversationsService,
  messages: MessagesService,
  summaries: CompactService,
): Binding[] => [
  ...bindCrud(conversationRoutes, conversations),
  bind(conversationRoutes.complete, ({ params, change }) => conversations.complete(change, params.id)),
  bind(conversationRoutes.compact, ({ params, body, change, signal }) => summaries.compact(change, params.id, body, signal)),
  bind(conversationRoutes.messages, ({ params, query, change }) =>
    conversations.listMessages(change.caller, params.id, query as ListQuery),
  ),
  bind(conversationRoutes.send, ({ params, body, change, signal }) => messages.send(change, params.id, body, signal), {
    replay: ({ params, body, change, signal }, stored) => messages.resend(change, params.id, stored as StoredSend, body, signal),
  }),
  bind(conversationRoutes.confirm, ({ params, body, change }) => messages.confirm(change.caller, params.id, params.message_id, body)),
  bind(conversationRoutes.events, ({ params, change, lastEventId }) =>
    messages.resumeReply(change.caller, params.id, params.message_id, lastEventId),
  ),
]
