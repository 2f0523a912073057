/** Gets the message that `ask --retry` answers again. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { isComplete } from '../../contract/schemas/messages.ts'

/** Returns the text of the last user message, and whether its reply is complete. */
export async function getLastQuestion(connection: Connection, id: string): Promise<{ question: string; isAnswered: boolean }> {
  const { data } = await call(connection, conversationRoutes.messages, { params: { id }, query: { limit: 2, order: 'desc' } })
  const question = data.find(({ role }) => role === 'user')
  if (!question) throw new CadreError('NOT_FOUND', 'The conversation has no message to retry.', { hint: 'Ask a question instead.' })
  const [last = question] = data
  return { question: question.content, isAnswered: isComplete(last) }
}
