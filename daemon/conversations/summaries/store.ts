/** Database records of the summaries of conversations. */
import type { ConversationSummary } from '../../../src/contract/schemas/summaries.ts'
import { type DatabaseReader, runLater, type Transaction } from '../../store/database.ts'

export interface StoredSummary extends ConversationSummary {
  /** Time of the last message that it covers. */
  last_created_at: string
  /** Whether it covers text of documents, tools or other users. */
  has_untrusted_text: boolean
}

/** Finds the summary of a conversation. With a position, only if it covers nothing from there on. */
export async function findSummary(
  reader: DatabaseReader,
  conversationId: string,
  before?: { id: string; timestamp: string },
): Promise<StoredSummary | undefined> {
  const condition = before ? ' AND (last_created_at < ? OR (last_created_at = ? AND last_message_id < ?))' : ''
  const sql = `SELECT content, message_count, last_message_id, last_created_at, model_id, has_untrusted_text, updated_at
    FROM conversation_summaries WHERE conversation_id = ?${condition}`
  const values = [conversationId, ...(before ? [before.timestamp, before.timestamp, before.id] : [])]
  const row = await reader.get<Omit<StoredSummary, 'has_untrusted_text'> & { has_untrusted_text: number }>(sql, values)
  return row && { ...row, has_untrusted_text: row.has_untrusted_text === 1 }
}

/** Stores a summary unless the previous one was replaced or deleted meanwhile, by another daemon or with one of its messages. */
export async function saveSummary(
  transaction: Transaction,
  conversationId: string,
  summary: StoredSummary,
  previous: StoredSummary | undefined,
): Promise<void> {
  const { content, message_count, last_message_id, last_created_at, model_id, has_untrusted_text, updated_at } = summary
  const values = [content, message_count, last_message_id, last_created_at, model_id, Number(has_untrusted_text), updated_at]
  if (previous)
    await runLater(
      transaction,
      `UPDATE conversation_summaries SET content = ?, message_count = ?, last_message_id = ?, last_created_at = ?, model_id = ?,
        has_untrusted_text = ?, updated_at = ? WHERE conversation_id = ? AND last_message_id = ? AND updated_at = ?`,
      [...values, conversationId, previous.last_message_id, previous.updated_at],
    )
  else
    await runLater(
      transaction,
      `INSERT INTO conversation_summaries (content, message_count, last_message_id, last_created_at, model_id, has_untrusted_text,
        updated_at, conversation_id) SELECT ?, ?, ?, ?, ?, ?, ?, conversation_id FROM messages WHERE id = ? AND conversation_id = ?
        ON CONFLICT (conversation_id) DO NOTHING`,
      [...values, last_message_id, conversationId],
    )
}

/** Deletes the summary that covers a message which is about to be deleted. */
export async function deleteSummaryOf(transaction: Transaction, messageId: string): Promise<void> {
  await runLater(
    transaction,
    `DELETE FROM conversation_summaries WHERE conversation_id = (SELECT conversation_id FROM messages WHERE id = ?) AND EXISTS
      (SELECT 1 FROM messages m WHERE m.id = ? AND (m.created_at < last_created_at OR (m.created_at = last_created_at AND
      m.id <= last_message_id)))`,
    [messageId, messageId],
  )
}
