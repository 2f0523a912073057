/** Sends a message, or retries the last one if its reply failed or was stopped. */
import { canRetry } from '../state/chat-state.ts'
import type { ChatSession, OutgoingText } from './chat-session.ts'

/** Resolves when the reply has ended. */
export async function sendMessage(session: ChatSession, outgoing: OutgoingText, { retry = false } = {}): Promise<void> {
  const { text, message, images } = outgoing
  session.lastMessage = outgoing
  session.store.dispatch({ kind: 'said', text })
  await session.replies.send(message, { images, retry })
}

/** Returns false if there is nothing to retry. The daemon answers the stored message again instead of storing it twice. */
export async function retryLastMessage(session: ChatSession): Promise<boolean> {
  const { store, lastMessage } = session
  if (!canRetry(store.state.transcript)) return false
  const entry = store.state.transcript.entries.findLast((candidate) => candidate.kind === 'said')
  if (entry?.kind !== 'said') return false
  const { text } = entry
  await sendMessage(session, lastMessage?.text === text ? lastMessage : { text, message: text, images: [] }, { retry: true })
  return true
}
