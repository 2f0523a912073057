/** Database records of memories. */
import { Memory } from '../../src/contract/families/memory/memories.ts'
import { overwriteDeleted } from '../core/overwrite-deleted.ts'
import { type DatabaseReader, runLater, type Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export interface Owner {
  agentId: string
  userId: string
}

export type StoredMemory = Memory &
  StoredRecord & {
    /** The words of the fact, by which duplicates are found. */
    words: string
    /** Null until it is computed. */
    vector: string | null
  }

export const memoryRecords = new Records<StoredMemory>({ table: 'memories', schema: Memory, hidden: ['words', 'vector'] })

/** Lists the memories of an owner, oldest first. */
export const listMemories = (reader: DatabaseReader, { agentId, userId }: Owner, limit: number): Promise<StoredMemory[]> =>
  memoryRecords.find(reader, { agent_id: agentId, user_id: userId }, limit)

/** Stores the vector of a fact unless it was changed meanwhile. */
export async function saveVector(transaction: Transaction, { id, words }: StoredMemory, vector: string): Promise<void> {
  await overwriteDeleted(transaction, () =>
    runLater(transaction, 'UPDATE memories SET vector = ? WHERE id = ? AND words = ?', [vector, id, words]),
  )
}

export async function hasExpiredMemories(reader: DatabaseReader, now: string): Promise<boolean> {
  return (await reader.all('SELECT 1 FROM memories WHERE expires_at <= ? LIMIT 1', [now])).length > 0
}

export async function listExpiredMemories(reader: DatabaseReader, now: string): Promise<StoredMemory[]> {
  const rows = await reader.all<{ id: string }>('SELECT id FROM memories WHERE expires_at <= ? ORDER BY expires_at LIMIT 100', [now])
  const found = await Promise.all(rows.map(({ id }) => memoryRecords.get(reader, id)))
  return found.flatMap((memory) => memory ?? [])
}

/** Finds memories of a user, of all agents or one, from all conversations or one. */
export function findMemories(
  reader: DatabaseReader,
  filter: { user_id: string; agent_id?: string | undefined; conversation_id?: string | undefined },
  limit: number,
): Promise<StoredMemory[]> {
  const conditions = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return memoryRecords.find(reader, Object.fromEntries(conditions), limit)
}
