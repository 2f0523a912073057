/** Database records of the events that a daemon passes on to others, and of who writes which reply. */
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { Database, DatabaseReader, Transaction } from '../../store/database.ts'

const IS_LIVE = 'owner IN (SELECT id FROM live_daemons)'
/** A server limits the size of its responses. */
const MAX_BATCHES = 16

export async function insertEvents(transaction: Transaction, messageId: string, events: readonly ReplyEvent[]): Promise<void> {
  const [first, last] = [Number(events[0]?.id), Number(events.at(-1)?.id)]
  // Replaced: the write is repeated if its outcome is unknown.
  const sql = 'INSERT OR REPLACE INTO reply_events (message_id, first, last, events) VALUES (?, ?, ?, ?)'
  await transaction.run(sql, [messageId, first, last, JSON.stringify(events)])
}

export async function deleteEvents(transaction: Transaction, messageId: string): Promise<void> {
  await transaction.run('DELETE FROM reply_events WHERE message_id = ?', [messageId])
}

export async function deleteAbandonedEvents(database: Database): Promise<void> {
  const left = 'message_id NOT IN (SELECT message_id FROM replies_under_way)'
  if ((await database.get(`SELECT 1 FROM reply_events WHERE ${left} LIMIT 1`)) === undefined) return
  await database.write((transaction) => transaction.run(`DELETE FROM reply_events WHERE ${left}`))
}

/** Returns the events after that id, and whether a live daemon writes the reply, in one round trip. */
export async function readEvents(
  reader: DatabaseReader,
  messageId: string,
  after: number,
): Promise<{ events: ReplyEvent[]; isActive: boolean }> {
  const sql = `SELECT EXISTS (SELECT 1 FROM replies_under_way WHERE message_id = ? AND ${IS_LIVE}) AS is_active,
    (SELECT json_group_array(json(events)) FROM (SELECT events FROM reply_events WHERE message_id = ? AND last > ?
      ORDER BY first LIMIT ${MAX_BATCHES})) AS batches`
  const row = await reader.get<{ is_active: number; batches: string }>(sql, [messageId, messageId, after])
  const batches = JSON.parse(row?.batches ?? '[]') as ReplyEvent[][]
  const events = batches.flat().filter(({ id }) => Number(id) > after)
  return { events: events.sort((a, b) => Number(a.id) - Number(b.id)), isActive: row?.is_active === 1 }
}

/** The other daemon that writes a reply. */
export async function findReplyOwner(cluster: Cluster, reader: DatabaseReader, messageId: string): Promise<string | undefined> {
  const [owner] = await cluster.listOwners(reader, 'SELECT owner FROM replies_under_way WHERE message_id = ?', [messageId])
  return owner
}

/** The other daemons that write replies in a conversation. */
export const listReplyOwners = (cluster: Cluster, reader: DatabaseReader, conversationId: string): Promise<string[]> =>
  cluster.listOwners(reader, 'SELECT owner FROM replies_under_way WHERE conversation_id = ?', [conversationId])
