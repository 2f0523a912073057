/** Deletes a conversation whose first message was rejected. */
import { conversationRoutes } from '../contract/families/conversations.ts'
import { call } from './call.ts'
import type { Connection } from './request.ts'

/** Returns whether it was deleted. Errors are ignored, because the caller reports why the message was rejected. */
export async function removeEmptyConversation(connection: Connection, id: string): Promise<boolean> {
  try {
    const { data } = await call(connection, conversationRoutes.get, { params: { id } })
    if (data.message_count > 0) return false
    await call(connection, conversationRoutes.remove, { params: { id } })
    return true
  } catch {
    return false
  }
}
