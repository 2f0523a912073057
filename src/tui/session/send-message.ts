/** Sends a message, or the last one again. */
import { canRetry, type OutgoingText } from '../state/chat-state.ts'
import type { ChatSession } from './chat-session.ts'

/** Resolves when the reply has ended. */
export async function sendMessage(
  session: ChatSession,
  outgoing: OutgoingText,
  options: { retry?: boolean; replace?: boolean } = {},
): Promise<void> {
  const { text, message, images } = outgoing
  session.lastMessage = outgoing
  session.store.dispatch({ kind: 'said', text })
  await session.replies.send(message, { images, ...options })
}

/** Returns false if there is no message. The daemon answers the stored message again instead of storing it twice. */
export async function retryLastMessage(session: ChatSession): Promise<boolean> {
  const { lastMessage, store } = session
  const text = findLastMessage(session)
  if (text === undefined) return false
  const outgoing = lastMessage?.text === text ? lastMessage : { text, message: text, images: [] }
  await sendMessage(session, outgoing, canRetry(store.state.transcript) ? { retry: true } : { replace: true })
  return true
}

/** Returns the last message of the user in the current conversation, as typed. */
export function findLastMessage({ store }: ChatSession): string | undefined {
  if (!store.state.conversation) return undefined
  const entry = store.state.transcript.entries.findLast((candidate) => candidate.kind === 'said')
  return entry?.kind === 'said' ? entry.text : undefined
}
