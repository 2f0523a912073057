/** Messages that were submitted while a reply was in progress. They are sent one by one, each after the reply to the previous one. */
import { setText } from '../input/line-editor.ts'
import type { OutgoingText } from '../state/chat-state.ts'
import type { ChatSession } from './chat-session.ts'
import { sendMessage } from './send-message.ts'

const MAX_QUEUED_MESSAGES = 20

/** Returns false if the queue is full. */
export function queueMessage({ store }: ChatSession, outgoing: OutgoingText): boolean {
  const { queue } = store.state
  if (queue.length >= MAX_QUEUED_MESSAGES) return false
  store.update({ queue: [...queue, outgoing] })
  return true
}

/** Moves the last queued message back to the input. Returns false if there is none. */
export function takeBackQueuedMessage({ store }: ChatSession): boolean {
  const { queue, editor } = store.state
  const last = queue.at(-1)
  if (!last) return false
  store.update({ queue: queue.slice(0, -1), editor: setText(editor, last.text) })
  return true
}

/** Call when a reply has ended. If it failed or was stopped, the queued messages go back to the input: they may no longer make sense. */
export function continueQueue(session: ChatSession): void {
  const { store } = session
  const { queue, transcript, editor } = store.state
  const [next, ...rest] = queue
  if (!next || transcript.isAwaitingReply) return
  const reply = transcript.entries.findLast((entry) => entry.kind === 'reply')
  if (reply?.status === 'done') {
    store.update({ queue: rest })
    void sendMessage(session, next)
    return
  }
  const texts = [...queue.map(({ text }) => text), editor.text].filter(Boolean)
  store.update({ queue: [], editor: setText(editor, texts.join('\n')) })
}
