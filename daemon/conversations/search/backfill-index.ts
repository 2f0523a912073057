/** Indexes the messages that were stored before the index existed, in the background. */
import type { Database, Transaction } from '../../store/database.ts'
import { indexMessage } from './message-index.ts'

const MAX_MESSAGES_PER_WRITE = 50
/** Bounds how long a write blocks other requests. */
const MAX_CHARACTERS_PER_WRITE = 100_000

interface Progress {
  indexed_id: string
  last_id: string
}

interface MessageRow {
  id: string
  conversation_id: string
  content: string
  created_at: string
}

/** Continues where the last daemon stopped, until the signal is aborted. */
export async function backfillIndex(database: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await database.get('SELECT 1 FROM messages_to_index')))
    await database.writeWithoutFlush(async (transaction) => {
      const progress = await transaction.get<Progress>('SELECT indexed_id, last_id FROM messages_to_index')
      if (progress) await indexNext(transaction, progress)
    })
}

async function indexNext(transaction: Transaction, { indexed_id, last_id }: Progress): Promise<void> {
  // Ordered by conversation: the index is written in the order of numbers fastest.
  const rows = await transaction.all<MessageRow>(
    `SELECT id, conversation_id, content, created_at FROM (SELECT *, sum(length(content)) OVER (ORDER BY id) - length(content) AS
      before FROM (SELECT * FROM messages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)) WHERE before < ? ORDER BY conversation_id, id`,
    [indexed_id, last_id, MAX_MESSAGES_PER_WRITE, MAX_CHARACTERS_PER_WRITE],
  )
  for (const { conversation_id, ...message } of rows) await indexMessage(transaction, conversation_id, message)
  const last = rows
    .map(({ id }) => id)
    .sort()
    .at(-1)
  if (last === undefined) await transaction.run('DELETE FROM messages_to_index')
  else await transaction.run('UPDATE messages_to_index SET indexed_id = ?', [last])
}
