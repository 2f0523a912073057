/** Database records of active replies, with which a restart recovers those that were interrupted. */
import { type DatabaseReader, runLater, type Transaction } from '../../store/database.ts'

export interface OpenCall {
  /** Id of the usage ledger entry. */
  entry: string
  estimated_input: number
  /** Length of the text when the call began. */
  said_before: number
}

export interface StoredActiveReply extends Omit<OpenCall, 'entry'> {
  message_id: string
  conversation_id: string
  /** Null if no call is open, for example while tools run. */
  entry: string | null
}

export async function insertActiveReply(
  transaction: Transaction,
  messageId: string,
  conversationId: string,
  call: OpenCall | undefined,
): Promise<void> {
  const sql =
    'INSERT INTO replies_under_way (message_id, conversation_id, owner, entry, estimated_input, said_before) VALUES (?, ?, ?, ?, ?, ?)'
  await runLater(transaction, sql, [messageId, conversationId, transaction.daemonId, ...listColumnValues(call)])
}

export async function setOpenCall(transaction: Transaction, messageId: string, call: OpenCall | undefined): Promise<void> {
  const sql = 'UPDATE replies_under_way SET entry = ?, estimated_input = ?, said_before = ? WHERE message_id = ?'
  await runLater(transaction, sql, [...listColumnValues(call), messageId])
}

const listColumnValues = (call: OpenCall | undefined) => [call?.entry ?? null, call?.estimated_input ?? 0, call?.said_before ?? 0] as const

export async function deleteActiveReply(transaction: Transaction, messageId: string): Promise<void> {
  await runLater(transaction, 'DELETE FROM replies_under_way WHERE message_id = ?', [messageId])
}

/** Lists the replies of daemons that have ended. */
export const listAbandonedReplies = (reader: DatabaseReader): Promise<StoredActiveReply[]> =>
  reader.all<StoredActiveReply>(
    'SELECT * FROM replies_under_way WHERE owner IS NULL OR owner NOT IN (SELECT id FROM live_daemons) ORDER BY message_id',
  )
