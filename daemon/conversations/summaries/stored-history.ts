/** The part of a conversation that a model reads: the summary of its earlier messages, and the messages after it. */
import { EMBEDDED_MODEL_ID } from '../../../src/contract/families/models.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import type { DatabaseReader } from '../../store/database.ts'
import { countMessages, listLastMessages, type Position, type StoredMessage } from '../store.ts'
import { findSummary, type StoredSummary } from './store.ts'

/** More are summarized even if they would fit. */
const MAX_HISTORY_MESSAGES = 400

interface StoredTurn {
  first: Position
  messageCount: number
}

export interface StoredHistory {
  conversationId: string
  summary: StoredSummary | undefined
  /** The turns of the history, oldest first. */
  turns: readonly StoredTurn[]
  /** Number of messages between the summary and the first turn. */
  unreadMessages: number
  /** The question, which comes after all of them. */
  question: Position
}

export interface LoadedMessages {
  summary: StoredSummary | undefined
  messages: StoredMessage[]
  /** Number of messages between the summary and the loaded ones. */
  unreadMessages: number
}

/** Loads the newest messages that the summary does not cover, oldest first, or those before a message. */
export async function loadMessages(reader: DatabaseReader, conversationId: string, before?: Position): Promise<LoadedMessages> {
  const summary = await findSummary(reader, conversationId, before)
  const range = { after: summary && getEnd(summary), before }
  const messages = await listLastMessages(reader, conversationId, MAX_HISTORY_MESSAGES, range)
  const total = messages.length < MAX_HISTORY_MESSAGES ? messages.length : await countMessages(reader, conversationId, range)
  return { summary, messages, unreadMessages: total - messages.length }
}

/** The position of the last message that a summary covers. */
export const getEnd = ({ last_message_id, last_created_at }: StoredSummary): Position => ({
  id: last_message_id,
  timestamp: last_created_at,
})

/** Describes the messages from which a history was built. The embedded model reads only the last turns, and cannot summarize. */
export function describeHistory(
  conversationId: string,
  model: ChatModel,
  { summary, unreadMessages }: LoadedMessages,
  messages: readonly StoredMessage[],
  question: Position,
): StoredHistory | undefined {
  if (model.id === EMBEDDED_MODEL_ID) return undefined
  const turns: StoredTurn[] = []
  let skipped = 0
  for (const message of messages) {
    const turn = turns.at(-1)
    if (message.role === 'user') turns.push({ first: message, messageCount: 1 })
    else if (turn) turn.messageCount++
    else skipped++ // a reply whose question was not loaded
  }
  return { conversationId, summary, turns, unreadMessages: unreadMessages + skipped, question }
}
