import { conversationRoutes, conversations } from '../../../contract/families/conversations.ts'
import type { Topic } from '../topic.ts'

export const conversationTopic: Topic = {
  command: 'conversations',
  family: conversations,
  routes: conversationRoutes,
  columns: ['id', 'title', 'status', 'updated_at', 'user_id'],
  label: 'title',
  references: { agent_id: ['agent'] },
}
