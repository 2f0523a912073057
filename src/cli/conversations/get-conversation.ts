import { call } from '../../client/call.ts'
import { readAllPages } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { type Conversation, conversationRoutes, MAX_MESSAGES } from '../../contract/families/conversations.ts'

/** The conversation itself contains only its newest messages; earlier ones are read in pages. */
export async function getConversation(connection: Connection, id: string): Promise<Conversation> {
  const { data } = await call(connection, conversationRoutes.get, { params: { id } })
  if (data.message_count <= data.messages.length) return data
  const read = (page: number) =>
    call(connection, conversationRoutes.messages, { params: { id }, query: { page, limit: MAX_MESSAGES, order: 'asc' } })
  const messages = await readAllPages(read, connection)
  return { ...data, messages, message_count: messages.length }
}
