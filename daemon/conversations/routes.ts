/** Routes of conversations and messages. */
import { conversationRoutes } from '../../src/contract/conversations.ts'
import type { ListQuery } from '../../src/contract/page.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { ConversationsService } from './service.ts'

export const conversationBindings = (conversations: ConversationsService): Binding[] => [
  ...bindCrud(conversationRoutes, conversations),
  bind(conversationRoutes.complete, ({ params, change }) => conversations.complete(change, params.id)),
  bind(conversationRoutes.messages, ({ params, query, change }) => conversations.messages(change.caller, params.id, query as ListQuery)),
]
