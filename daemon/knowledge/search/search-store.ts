/** What search asks of the documents' records; every value a caller gave is bound, never spliced. */
import type { Reader, Value } from '../../store/database.ts'

export interface DocumentDetails {
  name: string
  type: string
  metadata: Record<string, unknown>
  /** Of the text that the index holds. */
  content_hash: string | null
}

const COLUMNS = new Map([
  ['source', 'name'],
  ['document_id', 'id'],
  ['type', 'type'],
])
/** Whether both are booleans or neither is: to SQLite true is 1. */
const SAME_TYPE = "(have.type IN ('true', 'false')) = (wanted.type IN ('true', 'false'))"

/** Documents whose name, type, id or metadata equal what is asked for, or are in its lists. */
export async function findMatchingDocuments(
  reader: Reader,
  sourceIds: readonly string[],
  filters: Record<string, unknown>,
): Promise<string[]> {
  const values: Value[] = [...sourceIds]
  const conditions = Object.entries(filters).map(([name, wanted]) => {
    const list = JSON.stringify([wanted].flat())
    const column = COLUMNS.get(name)
    values.push(list, ...(column ? [] : [name]))
    return column
      ? `${column} IN (SELECT value FROM json_each(?))`
      : `EXISTS (SELECT 1 FROM json_each(documents.metadata) AS have JOIN json_each(?) AS wanted ON have.atom = wanted.atom AND ${SAME_TYPE} WHERE have.key = ?)`
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

export async function getDocumentDetails(
  reader: Reader,
  indexIds: readonly string[],
  ids: readonly string[],
): Promise<Map<string, DocumentDetails>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<Omit<DocumentDetails, 'metadata'> & { id: string; metadata: string }>(
    `SELECT documents.id, name, type, metadata, held.content_hash FROM documents LEFT JOIN index_documents AS held ON held.document_id = documents.id AND held.index_id IN (${formatPlaceholders(indexIds)}) WHERE documents.id IN (${formatPlaceholders(ids)})`,
    [...indexIds, ...ids],
  )
  return new Map(rows.map(({ id, metadata, ...facts }) => [id, { ...facts, metadata: JSON.parse(metadata) as Record<string, unknown> }]))
}

export interface CurrentDocument {
  content_hash: string
  /** An index that holds it, and what of it. */
  index_id: string | null
  held_hash: string | null
}

/** Documents as they are now, each with one of the indexes that hold it, the most recent text first. */
export async function getCurrentDocuments(reader: Reader, ids: readonly string[]): Promise<Map<string, CurrentDocument>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<CurrentDocument & { id: string }>(
    `SELECT documents.id, documents.content_hash, held.index_id, held.content_hash AS held_hash FROM documents LEFT JOIN indexes ON indexes.knowledge_source_id = documents.knowledge_source_id LEFT JOIN index_documents AS held ON held.index_id = indexes.id AND held.document_id = documents.id WHERE documents.id IN (${formatPlaceholders(ids)}) ORDER BY held.content_hash = documents.content_hash`,
    ids,
  )
  return new Map(rows.map(({ id, ...document }) => [id, document]))
}

const formatPlaceholders = (values: readonly unknown[]): string => values.map(() => '?').join(', ')
