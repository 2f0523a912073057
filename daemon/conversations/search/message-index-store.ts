/** The full-text index of messages: adding a message, and finding conversations. */
import { type DatabaseReader, runLater, type Transaction, type Value } from '../../store/database.ts'
import type { Subset } from '../../store/records.ts'
import type { DateRange } from '../../validation/date-range.ts'
import { prepareText } from './search-query.ts'

/** The low bits of a number count the messages of a conversation. */
const MESSAGE_BITS = 20

interface IndexedMessage {
  id: string
  content: string
  created_at: string
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

/** Finds the numbers of the messages that match, in the period if one is given, in ascending order. */
export async function findMessages(reader: DatabaseReader, match: string, period: DateRange | undefined): Promise<number[]> {
  const join = period ? ' CROSS JOIN searchable_messages m ON m.number = w.rowid' : ''
  const condition = period ? ' AND m.created_at >= ? AND m.created_at < ?' : ''
  const values: Value[] = period ? [match, period.from, period.until] : [match]
  // One text: a word can be in every message, and fetching or grouping as many rows takes longer than finding them.
  const [row] = await reader.all<{ numbers: string }>(
    `SELECT json_group_array(number) AS numbers FROM (SELECT w.rowid AS number FROM message_words w${join}
      WHERE message_words MATCH ?${condition} ORDER BY w.rowid)`,
    values,
  )
  return JSON.parse(row?.numbers ?? '[]') as number[]
}

const getFirstNumber = (conversation: number): number => conversation * 2 ** MESSAGE_BITS

/** With more conversations, it is faster to read all in the order of the list and to stop at the end of the page. */
const MAX_SORTED_CONVERSATIONS = 2_000

/** Limits a list of conversations to those of messages with these numbers. */
export function selectConversations(messages: readonly number[]): Subset {
  const conversations: number[] = []
  let next = 0 // the first number after those of the last conversation
  for (const number of messages) {
    if (number < next) continue
    const conversation = Math.floor(number / getFirstNumber(1))
    next = getFirstNumber(conversation + 1)
    conversations.push(conversation)
  }
  const size = conversations.length
  if (size <= MAX_SORTED_CONVERSATIONS) {
    const sql = 'id IN (SELECT s.id FROM json_each(?) j CROSS JOIN searchable_conversations s ON s.number = j.value)'
    return { sql, values: [JSON.stringify(conversations)], size }
  }
  const number = '(SELECT number FROM searchable_conversations s WHERE s.id = conversations.id)'
  return { sql: `substr(CAST(? AS BLOB), ${number} + 1, 1) = x'31'`, values: [formatFlags(conversations)], size }
}

/** A digit per number, 1 if it is in the list: SQLite reads a byte of a blob at once, but would first sort a list of all numbers. */
function formatFlags(numbers: readonly number[]): string {
  const flags = Buffer.alloc((numbers.at(-1) ?? 0) + 1, '0')
  for (const number of numbers) flags[number] = 0x31
  return flags.toString('latin1')
}

/** Returns how many of the messages are in a conversation, and the number of the newest one. */
export function countMatches(messages: readonly number[], conversation: number): { match_count: number; newest: number } {
  const end = findPosition(messages, getFirstNumber(conversation + 1))
  return { match_count: end - findPosition(messages, getFirstNumber(conversation)), newest: messages[end - 1] ?? 0 }
}

/** Returns how many of the numbers, which are in ascending order, are below the limit. */
function findPosition(numbers: readonly number[], limit: number): number {
  let [from, to] = [0, numbers.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle] as number) < limit) from = middle + 1
    else to = middle
  }
  return from
}

/** Returns the numbers of conversations by their ids. */
export async function listNumbers(reader: DatabaseReader, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await reader.all<{ id: string; number: number }>(
    'SELECT s.id, s.number FROM json_each(?) j CROSS JOIN searchable_conversations s ON s.id = j.value',
    [JSON.stringify(ids)],
  )
  return new Map(rows.map(({ id, number }) => [id, number]))
}

interface MatchingMessage {
  number: number
  id: string
  role: 'user' | 'assistant'
  content: string
  created_at: string
}

/** Reads messages by their numbers, with at most `maxLength` characters of their texts. */
export async function listMatchingMessages(
  reader: DatabaseReader,
  numbers: readonly number[],
  maxLength: number,
): Promise<MatchingMessage[]> {
  return reader.all(
    `SELECT s.number, m.id, m.role, substr(m.content, 1, ?) AS content, m.created_at FROM json_each(?) j
      CROSS JOIN searchable_messages s ON s.number = j.value CROSS JOIN messages m ON m.id = s.id`,
    [maxLength, JSON.stringify(numbers)],
  )
}

const MAX_MATCH_LENGTH = 100_000

/** Finds messages of one conversation, best first. */
export async function findMessagesOfConversation(
  reader: DatabaseReader,
  conversationId: string,
  match: string,
  { before, limit }: { before: { timestamp: string }; limit: number },
): Promise<Omit<MatchingMessage, 'number'>[]> {
  const number = (await listNumbers(reader, [conversationId])).get(conversationId)
  if (number === undefined) return []
  return reader.all(
    `SELECT m.id, m.role, substr(m.content, 1, ?) AS content, m.created_at FROM message_words w CROSS JOIN searchable_messages s
      ON s.number = w.rowid CROSS JOIN messages m ON m.id = s.id WHERE message_words MATCH ? AND w.rowid BETWEEN ? AND ?
      AND m.created_at < ? ORDER BY bm25(message_words), m.created_at DESC LIMIT ?`,
    [MAX_MATCH_LENGTH, match, getFirstNumber(number), getFirstNumber(number + 1) - 1, before.timestamp, limit],
  )
}

const MAX_MESSAGES_PER_WRITE = 50
/** Bounds how long a write blocks other requests. */
const MAX_CHARACTERS_PER_WRITE = 100_000

/** Whether messages from before the index are not indexed yet. */
export async function hasUnindexedMessages(reader: DatabaseReader): Promise<boolean> {
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
