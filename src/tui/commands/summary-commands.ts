/** The commands /compact and /summary. */
import { formatHistoryNotes } from '../../cli/ask/notes/format-history.ts'
import { formatCount } from '../../cli/terminal/format-quantity.ts'
import { call } from '../../client/call.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { type ChatSession, requireConversation } from '../session/chat-session.ts'

/** Summarizes the earlier messages now, with an optional instruction. */
export async function compactConversation(session: ChatSession, instructions: string): Promise<void> {
  const { id } = requireConversation(session)
  session.assertIdle()
  session.store.addNote('Summarizing the earlier messages…')
  const body = instructions === '' ? {} : { instructions }
  const { summary } = (await call(await session.client.getConnection(), conversationRoutes.compact, { params: { id }, body })).data
  for (const note of formatHistoryNotes({ summarized_messages: summary?.message_count ?? 0 }, '/summary'))
    session.store.addNote(note, 'good')
}

export async function showSummary(session: ChatSession): Promise<void> {
  const { id } = requireConversation(session)
  const { summary } = (await call(await session.client.getConnection(), conversationRoutes.get, { params: { id } })).data
  if (!summary) return session.store.addNote('Nothing is summarized: the model reads all messages. To summarize the earlier ones: /compact')
  session.store.addMarkdown(`**Summary of the first ${formatCount(summary.message_count, 'message')}**\n\n${summary.content}`)
}
