/** Conversations and messages as they are stored. */
import type { Static } from 'typebox'
import { ConversationItem, type Message } from '../../src/contract/conversations.ts'
import { DEFAULT_LIMIT, type ListQuery } from '../../src/contract/page.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { type Page, Records, type StoredRecord } from '../store/records.ts'

export type StoredConversation = Static<typeof ConversationItem> & StoredRecord
export type StoredMessage = Static<typeof Message>

export const conversationRecords = new Records<StoredConversation>({ table: 'conversations', schema: ConversationItem })

interface MessageRow {
  id: string
  role: StoredMessage['role']
  content: string
  details: string
  created_at: string
}

const asMessage = ({ id, role, content, details, created_at }: MessageRow): StoredMessage => ({
  id,
  role,
  content,
  timestamp: created_at,
  ...(JSON.parse(details) as object),
})

export async function messagesOf(reader: Reader, conversationId: string): Promise<StoredMessage[]> {
  const rows = await reader.all<MessageRow>('SELECT * FROM messages WHERE conversation_id = ? ORDER BY created_at, id', [conversationId])
  return rows.map(asMessage)
}

export async function pageOfMessages(reader: Reader, conversationId: string, query: ListQuery): Promise<Page<StoredMessage>> {
  const filters = (['role', 'created_at'] as const).filter((name) => query[name] !== undefined)
  const where = ['conversation_id = ?', ...filters.map((name) => `${name} = ?`)].join(' AND ')
  const values = [conversationId, ...filters.map((name) => query[name] as string)]
  const { limit = DEFAULT_LIMIT, page = 1 } = query
  const direction = query.order === 'asc' ? 'ASC' : 'DESC'
  const sorted = query.sort === 'role' ? `role ${direction}, id ${direction}` : `created_at ${direction}, id ${direction}`
  const rows = await reader.all<MessageRow>(`SELECT * FROM messages WHERE ${where} ORDER BY ${sorted} LIMIT ? OFFSET ?`, [...values, limit, (page - 1) * limit])
  const counted = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM messages WHERE ${where}`, values)
  return { items: rows.map(asMessage), total: counted?.total ?? 0 }
}

export async function countMessages(reader: Reader, conversationId: string): Promise<number> {
  const counted = await reader.get<{ total: number }>('SELECT count(*) AS total FROM messages WHERE conversation_id = ?', [conversationId])
  return counted?.total ?? 0
}

export async function insertMessage(transaction: Transaction, conversationId: string, message: StoredMessage): Promise<void> {
  const { id, role, content, timestamp, ...details } = message
  await transaction.run('INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES (?, ?, ?, ?, ?, ?)', [
    id,
    conversationId,
    role,
    content,
    JSON.stringify(details),
    timestamp,
  ])
}

export async function deleteMessagesOf(transaction: Transaction, conversationId: string): Promise<void> {
  await transaction.run('DELETE FROM messages WHERE conversation_id = ?', [conversationId])
}
