/** Persistence of recordings. */
import type { Static } from 'typebox'
import type { Recording } from '../../../src/contract/families/recordings.ts'
import { DEFAULT_LIMIT, type ListQuery } from '../../../src/contract/schemas/list-query.ts'
import type { DatabaseReader, Transaction } from '../../store/database.ts'
import type { Page } from '../../store/records.ts'

export type StoredRecording = Static<typeof Recording>

type Row = Record<keyof StoredRecording, string>

const toRecording = ({ request, parts, ...row }: Row): StoredRecording => ({
  ...row,
  request: JSON.parse(request) as StoredRecording['request'],
  parts: JSON.parse(parts) as StoredRecording['parts'],
})

export async function findRecording(reader: DatabaseReader, modelId: string, key: string): Promise<StoredRecording | undefined> {
  const sql = 'SELECT key, request, parts, created_at FROM recordings WHERE model_id = ? AND key = ?'
  const row = await reader.get<Row>(sql, [modelId, key])
  return row && toRecording(row)
}

export async function listRecordings(reader: DatabaseReader, modelId: string, query: ListQuery): Promise<Page<StoredRecording>> {
  const filters = (['key', 'created_at'] as const).filter((name) => query[name] !== undefined)
  const where = ['model_id = ?', ...filters.map((name) => `${name} = ?`)].join(' AND ')
  const values = [modelId, ...filters.map((name) => query[name] as string)]
  const { limit = DEFAULT_LIMIT, page = 1 } = query
  const direction = query.order === 'asc' ? 'ASC' : 'DESC'
  const order = query.sort === 'key' ? `key ${direction}` : `created_at ${direction}, key ${direction}`
  const sql = `SELECT key, request, parts, created_at FROM recordings WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`
  const rows = await reader.all<Row>(sql, [...values, limit, (page - 1) * limit])
  const count = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM recordings WHERE ${where}`, values)
  return { items: rows.map(toRecording), total: count?.total ?? 0 }
}

/** Does nothing if the model was deleted meanwhile. */
export async function saveRecording(
  transaction: Transaction,
  modelId: string,
  { key, request, parts, created_at }: StoredRecording,
): Promise<void> {
  await transaction.run(
    'INSERT OR REPLACE INTO recordings (model_id, key, request, parts, created_at) SELECT id, ?, ?, ?, ? FROM models WHERE id = ?',
    [key, JSON.stringify(request), JSON.stringify(parts), created_at, modelId],
  )
}

export async function deleteRecordings(transaction: Transaction, modelId: string): Promise<number> {
  return transaction.run('DELETE FROM recordings WHERE model_id = ?', [modelId])
}
