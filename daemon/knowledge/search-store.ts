/** What search asks of the documents' records; every value a caller gave is bound, never spliced. */
import type { Reader, Value } from '../store/database.ts'

export interface DocumentFacts {
  name: string
  type: string
  metadata: Record<string, unknown>
}

const COLUMNS = new Map([
  ['source', 'name'],
  ['document_id', 'id'],
  ['type', 'type'],
])
/** Whether both are booleans or neither is: to SQLite true is 1. */
const ALIKE = "(have.type IN ('true', 'false')) = (wanted.type IN ('true', 'false'))"

/** Documents whose name, type, id or metadata equal what is asked for, or are in its lists. */
export async function matchingDocuments(reader: Reader, sourceIds: readonly string[], filters: Record<string, unknown>): Promise<string[]> {
  const values: Value[] = [...sourceIds]
  const conditions = Object.entries(filters).map(([name, wanted]) => {
    const list = JSON.stringify([wanted].flat())
    const column = COLUMNS.get(name)
    values.push(list, ...(column ? [] : [name]))
    return column
      ? `${column} IN (SELECT value FROM json_each(?))`
      : `EXISTS (SELECT 1 FROM json_each(documents.metadata) AS have JOIN json_each(?) AS wanted ON have.atom = wanted.atom AND ${ALIKE} WHERE have.key = ?)`
  })
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM documents WHERE knowledge_source_id IN (${sourceIds.map(() => '?').join(', ')}) AND ${conditions.join(' AND ')}`,
    values,
  )
  return rows.map(({ id }) => id)
}

/** How many documents these sources have. */
export async function countDocuments(reader: Reader, sourceIds: readonly string[]): Promise<number> {
  const counted = await reader.get<{ total: number }>(
    `SELECT count(*) AS total FROM documents WHERE knowledge_source_id IN (${sourceIds.map(() => '?').join(', ')})`,
    sourceIds,
  )
  return counted?.total ?? 0
}

export async function documentFacts(reader: Reader, ids: readonly string[]): Promise<Map<string, DocumentFacts>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<{ id: string; name: string; type: string; metadata: string }>(
    `SELECT id, name, type, metadata FROM documents WHERE id IN (${ids.map(() => '?').join(', ')})`,
    ids,
  )
  return new Map(rows.map(({ id, name, type, metadata }) => [id, { name, type, metadata: JSON.parse(metadata) as Record<string, unknown> }]))
}
