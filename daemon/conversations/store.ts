/** Database records of conversations and messages. */
import { ConversationItem } from '../../src/contract/families/conversations.ts'
import { DEFAULT_LIMIT, type ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Message } from '../../src/contract/schemas/messages.ts'
import { type DatabaseReader, listColumn, runLater, type Transaction } from '../store/database.ts'
import { type Page, Records, type StoredRecord } from '../store/records.ts'
import { indexMessage } from './search/message-index-store.ts'
import { deleteSummaryOf } from './summaries/store.ts'

export type StoredConversation = ConversationItem & StoredRecord & { deleted_agent_id: string | null }
export type StoredMessage = Message

export const conversationRecords = new Records<StoredConversation>({
  table: 'conversations',
  schema: ConversationItem,
  hidden: ['deleted_agent_id'],
})

interface MessageRow {
  id: string
  role: StoredMessage['role']
  content: string
  details: string
  created_at: string
}

/** Older records omit these fields if they are empty. */
const REPLY_DEFAULTS = { citations: [], tool_calls: [] }

const parseMessage = ({ id, role, content, details, created_at }: MessageRow): StoredMessage => ({
  id,
  role,
  content,
  timestamp: created_at,
  ...(role === 'assistant' ? REPLY_DEFAULTS : {}),
  ...(JSON.parse(details) as object),
})

export async function listMessagePage(reader: DatabaseReader, conversationId: string, query: ListQuery): Promise<Page<StoredMessage>> {
  const filters = (['role', 'created_at'] as const).filter((name) => query[name] !== undefined)
  const where = ['conversation_id = ?', ...filters.map((name) => `${name} = ?`)].join(' AND ')
  const values = [conversationId, ...filters.map((name) => query[name] as string)]
  const { limit = DEFAULT_LIMIT, page = 1 } = query
  const direction = query.order === 'asc' ? 'ASC' : 'DESC'
  const orderBy = query.sort === 'role' ? `role ${direction}, id ${direction}` : `created_at ${direction}, id ${direction}`
  const sql = `SELECT * FROM messages WHERE ${where} ORDER BY ${orderBy} LIMIT ? OFFSET ?`
  const rows = await reader.all<MessageRow>(sql, [...values, limit, (page - 1) * limit])
  const count = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM messages WHERE ${where}`, values)
  return { items: rows.map(parseMessage), total: count?.total ?? 0 }
}

/** The place of a message in its conversation. */
export type Position = Pick<StoredMessage, 'id' | 'timestamp'>

/** Both ends are excluded. */
export interface MessageRange {
  after?: Position | undefined
  before?: Position | undefined
}

/** Lists the newest messages of the range, oldest first. */
export const listLastMessages = async (...args: Parameters<typeof listFirstMessages>): Promise<StoredMessage[]> =>
  (await listFirstMessages(args[0], args[1], args[2], args[3], 'DESC')).reverse()

/** Lists the first messages of the range in this order. */
export async function listFirstMessages(
  reader: DatabaseReader,
  conversationId: string,
  limit: number,
  range: MessageRange = {},
  direction: 'ASC' | 'DESC' = 'ASC',
): Promise<StoredMessage[]> {
  const { where, values } = buildRange(conversationId, range)
  const sql = `SELECT * FROM messages WHERE ${where} ORDER BY created_at ${direction}, id ${direction} LIMIT ?`
  return (await reader.all<MessageRow>(sql, [...values, limit])).map(parseMessage)
}

const IS_EARLIER = '(created_at < ? OR (created_at = ? AND id < ?))'
const IS_LATER = '(created_at > ? OR (created_at = ? AND id > ?))'

function buildRange(conversationId: string, { after, before }: MessageRange): { where: string; values: string[] } {
  const conditions = ['conversation_id = ?', ...(after ? [IS_LATER] : []), ...(before ? [IS_EARLIER] : [])]
  const ends = [after, before].flatMap((end) => (end ? [end.timestamp, end.timestamp, end.id] : []))
  return { where: conditions.join(' AND '), values: [conversationId, ...ends] }
}

export async function findMessage(reader: DatabaseReader, conversationId: string, id: string): Promise<StoredMessage | undefined> {
  const row = await reader.get<MessageRow>('SELECT * FROM messages WHERE id = ? AND conversation_id = ?', [id, conversationId])
  return row && parseMessage(row)
}

export async function findConversationId(reader: DatabaseReader, messageId: string): Promise<string | undefined> {
  const sql = 'SELECT conversation_id FROM messages WHERE id = ?'
  return (await reader.get<{ conversation_id: string }>(sql, [messageId]))?.conversation_id
}

/** Finds the id of the user message that a reply answers. */
export async function findQuestionId(
  reader: DatabaseReader,
  conversationId: string,
  { id, timestamp }: StoredMessage,
): Promise<string | undefined> {
  const sql = `SELECT id FROM messages WHERE conversation_id = ? AND role = 'user' AND ${IS_EARLIER}
    ORDER BY created_at DESC, id DESC LIMIT 1`
  return (await reader.get<{ id: string }>(sql, [conversationId, timestamp, timestamp, id]))?.id
}

/** Finds the id of the newest user message. */
export async function findLastQuestionId(reader: DatabaseReader, conversationId: string): Promise<string | undefined> {
  const sql = "SELECT id FROM messages WHERE conversation_id = ? AND role = 'user' ORDER BY created_at DESC, id DESC LIMIT 1"
  return (await reader.get<{ id: string }>(sql, [conversationId]))?.id
}

/** Finds a user message and the reply that follows it; `isLast` is false if the conversation has continued since. */
export async function findQuestion(
  reader: DatabaseReader,
  conversationId: string,
  id: string,
): Promise<{ question: StoredMessage; reply: StoredMessage | undefined; isLast: boolean } | undefined> {
  const question = await findMessage(reader, conversationId, id)
  if (question?.role !== 'user') return undefined
  const [next, ...later] = await listFirstMessages(reader, conversationId, 2, { after: question })
  const reply = next?.role === 'assistant' ? next : undefined
  return { question, reply, isLast: (reply ? later[0] : next) === undefined }
}

export async function countMessages(reader: DatabaseReader, conversationId: string, range: MessageRange = {}): Promise<number> {
  const { where, values } = buildRange(conversationId, range)
  return (await reader.get<{ total: number }>(`SELECT count(*) AS total FROM messages WHERE ${where}`, values))?.total ?? 0
}

export async function insertMessage(transaction: Transaction, conversationId: string, message: StoredMessage): Promise<void> {
  const { id, role, content, timestamp, ...details } = message
  const sql = 'INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES (?, ?, ?, ?, ?, ?)'
  await runLater(transaction, sql, [id, conversationId, role, content, JSON.stringify(details), timestamp])
  if (isFinal(message)) await indexMessage(transaction, conversationId, { id, content, created_at: timestamp })
}

export async function updateMessage(transaction: Transaction, message: StoredMessage): Promise<void> {
  const { id, content, timestamp } = message
  await updateText(transaction, message)
  if (!isFinal(message)) return
  const conversationId = await findConversationId(transaction, id)
  if (conversationId !== undefined) await indexMessage(transaction, conversationId, { id, content, created_at: timestamp })
}

/** A reply that is being written changes often, so it is indexed when it ends. */
const isFinal = ({ role, finish_reason }: StoredMessage): boolean => role === 'user' || finish_reason !== undefined

export async function deleteMessage(transaction: Transaction, id: string): Promise<void> {
  await deleteSummaryOf(transaction, id)
  await runLater(transaction, 'DELETE FROM messages WHERE id = ?', [id])
}

/** Stores a reply that is being written. Does nothing if it has ended. */
export const updateDraft = (transaction: Transaction, message: StoredMessage): Promise<void> =>
  updateText(transaction, message, ' AND id IN (SELECT message_id FROM replies_under_way)')

async function updateText(transaction: Transaction, message: StoredMessage, condition = ''): Promise<void> {
  const { id, role: _role, content, timestamp: _timestamp, ...details } = message
  const sql = `UPDATE messages SET content = ?, details = ? WHERE id = ?${condition}`
  await runLater(transaction, sql, [content, JSON.stringify(details), id])
}

export async function updateContent(transaction: Transaction, id: string, content: string): Promise<void> {
  await runLater(transaction, 'UPDATE messages SET content = ? WHERE id = ?', [content, id])
}

/** Updates the time of the last activity, and the status if given. */
export async function touchConversation(
  transaction: Transaction,
  id: string,
  now: string,
  status?: StoredConversation['status'],
): Promise<void> {
  const sql = 'UPDATE conversations SET updated_at = ?, status = coalesce(?, status), version = version + 1 WHERE id = ?'
  await runLater(transaction, sql, [now, status ?? null, id])
}

/** Lists up to 100 active conversations without activity since then and without an active reply. */
export const listIdleConversations = (reader: DatabaseReader, since: string): Promise<string[]> =>
  listColumn(
    reader,
    `SELECT id FROM conversations WHERE status = 'active' AND updated_at < ?
       AND id NOT IN (SELECT conversation_id FROM replies_under_way) ORDER BY updated_at LIMIT 100`,
    [since],
  )

export async function deleteMessages(transaction: Transaction, conversationId: string): Promise<void> {
  await runLater(transaction, 'DELETE FROM conversation_summaries WHERE conversation_id = ?', [conversationId])
  await transaction.run('DELETE FROM messages WHERE conversation_id = ?', [conversationId])
}
