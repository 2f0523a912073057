/** Sends a message, or retries the last one if its reply failed or was stopped. */
import { canRetry } from '../state/chat-state.ts'
import type { ChatSession } from './chat-session.ts'

/** Resolves when the reply has ended. `message` is the text with its attached files. */
export async function sendMessage(session: ChatSession, text: string, message: string, { retry = false } = {}): Promise<void> {
  session.lastMessage = { text, message }
  session.store.dispatch({ kind: 'said', text })
  await session.replies.send(message, { retry })
}

/** Returns false if there is nothing to retry. The daemon answers the stored message again instead of storing it twice. */
export async function retryLastMessage(session: ChatSession): Promise<boolean> {
  const { store, lastMessage } = session
  if (!canRetry(store.state.transcript)) return false
  const entry = store.state.transcript.entries.findLast((candidate) => candidate.kind === 'said')
  if (entry?.kind !== 'said') return false
  await sendMessage(session, entry.text, lastMessage?.text === entry.text ? lastMessage.message : entry.text, { retry: true })
  return true
}
