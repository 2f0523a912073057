/** The full-text index of messages: adding a message, and finding conversations. */
import { type Reader, runLater, type Transaction, type Value } from '../../store/database.ts'
import type { DateRange } from '../../validation/date-range.ts'
import { prepareText } from './search-query.ts'

/** The low bits of a number count the messages of a conversation. */
const MESSAGE_BITS = 20

interface IndexedMessage {
  id: string
  content: string
  created_at: string
}

export interface FoundConversation {
  id: string
  match_count: number
  /** Number of the newest matching message. */
  newest: number
}

/** Indexes a message, or indexes it again after a change. */
export async function indexMessage(transaction: Transaction, conversationId: string, message: IndexedMessage): Promise<void> {
  const { id, content, created_at } = message
  await runLater(transaction, 'DELETE FROM message_words WHERE rowid = (SELECT number FROM searchable_messages WHERE id = ?)', [id])
  if (content === '') return
  await assignNumber(transaction, conversationId, id, created_at)
  // A message without a number is not indexed.
  const sql = 'INSERT INTO message_words (rowid, content) SELECT number, ? FROM searchable_messages WHERE id = ?'
  await runLater(transaction, sql, [prepareText(content), id])
}

/** Does nothing if the message has a number, or if the conversation has none left. */
async function assignNumber(transaction: Transaction, conversationId: string, messageId: string, createdAt: string): Promise<void> {
  await runLater(transaction, 'INSERT INTO searchable_conversations (id) VALUES (?) ON CONFLICT DO NOTHING', [conversationId])
  const range = `number BETWEEN c.number << ${MESSAGE_BITS} AND ((c.number + 1) << ${MESSAGE_BITS}) - 1`
  await runLater(
    transaction,
    `INSERT INTO searchable_messages (number, id, created_at) SELECT next, ?, ? FROM (SELECT c.number, coalesce((SELECT m.number + 1
      FROM searchable_messages m WHERE m.${range} ORDER BY m.number DESC LIMIT 1), c.number << ${MESSAGE_BITS}) AS next
      FROM searchable_conversations c WHERE c.id = ?) WHERE next >> ${MESSAGE_BITS} = number ON CONFLICT (id) DO NOTHING`,
    [messageId, createdAt, conversationId],
  )
}

/** Finds conversations with a message that matches, in the period if one is given. */
export async function findConversations(reader: Reader, match: string, period: DateRange | undefined): Promise<FoundConversation[]> {
  const join = period ? ' CROSS JOIN searchable_messages m ON m.number = w.rowid' : ''
  const condition = period ? ' AND m.created_at >= ? AND m.created_at < ?' : ''
  const values: Value[] = period ? [match, period.from, period.until] : [match]
  return reader.all<FoundConversation>(
    `SELECT c.id, f.match_count, f.newest FROM (SELECT w.rowid >> ${MESSAGE_BITS} AS number, count(*) AS match_count,
      max(w.rowid) AS newest FROM message_words w${join} WHERE message_words MATCH ?${condition} GROUP BY 1) f
      CROSS JOIN searchable_conversations c ON c.number = f.number`,
    values,
  )
}

export interface MatchingMessage {
  number: number
  id: string
  role: 'user' | 'assistant'
  content: string
  created_at: string
}

/** Reads messages by their numbers, with at most `maxLength` characters of their texts. */
export async function listMatchingMessages(reader: Reader, numbers: readonly number[], maxLength: number): Promise<MatchingMessage[]> {
  return reader.all(
    `SELECT s.number, m.id, m.role, substr(m.content, 1, ?) AS content, m.created_at
      FROM json_each(?) j CROSS JOIN searchable_messages s ON s.number = j.value CROSS JOIN messages m ON m.id = s.id`,
    [maxLength, JSON.stringify(numbers)],
  )
}

const MAX_MESSAGES_PER_WRITE = 50
/** Bounds how long a write blocks other requests. */
const MAX_CHARACTERS_PER_WRITE = 100_000

/** Whether messages from before the index are not indexed yet. */
export async function hasUnindexedMessages(reader: Reader): Promise<boolean> {
  return (await reader.get('SELECT 1 FROM messages_to_index')) !== undefined
}

/** Indexes the next messages from before the index. */
export async function indexNextMessages(transaction: Transaction): Promise<void> {
  const progress = await transaction.get<{ indexed_id: string; last_id: string }>('SELECT indexed_id, last_id FROM messages_to_index')
  if (!progress) return
  // Ordered by conversation: the index is written in the order of numbers fastest.
  const rows = await transaction.all<IndexedMessage & { conversation_id: string }>(
    `SELECT id, conversation_id, content, created_at FROM (SELECT *, sum(length(content)) OVER (ORDER BY id) - length(content) AS
      before FROM (SELECT * FROM messages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)) WHERE before < ? ORDER BY conversation_id, id`,
    [progress.indexed_id, progress.last_id, MAX_MESSAGES_PER_WRITE, MAX_CHARACTERS_PER_WRITE],
  )
  for (const { conversation_id, ...message } of rows) await indexMessage(transaction, conversation_id, message)
  const last = rows
    .map(({ id }) => id)
    .sort()
    .at(-1)
  if (last === undefined) await transaction.run('DELETE FROM messages_to_index')
  else await transaction.run('UPDATE messages_to_index SET indexed_id = ?', [last])
}
