/** SQL of search. Values from callers are always bound, never interpolated. */
import type { Places } from '../../core/places.ts'
import { type DatabaseReader, listColumn, type Value } from '../../store/database.ts'

export interface DocumentDetails {
  knowledge_source_id: string
  name: string
  type: string
  metadata: Record<string, unknown>
  places: Places | null
  /** Hash of the content that the index holds. */
  content_hash: string | null
  /** Hash of the content that was read last; the index may not hold it yet. */
  stored_hash: string
}

const COLUMNS = new Map([
  ['source', 'name'],
  ['document_id', 'id'],
  ['type', 'type'],
])
/** SQLite compares true as 1: both values must be booleans, or neither. */
const SAME_TYPE = "(actual.type IN ('true', 'false')) = (wanted.type IN ('true', 'false'))"

/** Finds documents whose name, type, id or metadata match all filters. A filter is a value or a list of values. */
export async function findMatchingDocuments(
  reader: DatabaseReader,
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
      : `EXISTS (SELECT 1 FROM json_each(documents.metadata) AS actual
           JOIN json_each(?) AS wanted ON actual.atom = wanted.atom AND ${SAME_TYPE} WHERE actual.key = ?)`
  })
  const where = `knowledge_source_id IN (${formatPlaceholders(sourceIds)}) AND ${conditions.join(' AND ')}`
  return listColumn(reader, `SELECT id FROM documents WHERE ${where}`, values)
}

export async function countDocuments(reader: DatabaseReader, sourceIds: readonly string[]): Promise<number> {
  const row = await reader.get<{ total: number }>(
    `SELECT count(*) AS total FROM documents
     WHERE knowledge_source_id IN (${formatPlaceholders(sourceIds)}) AND status NOT IN ('failed', 'skipped')`,
    sourceIds,
  )
  return row?.total ?? 0
}

export async function getDocumentDetails(
  reader: DatabaseReader,
  indexIds: readonly string[],
  ids: readonly string[],
): Promise<Map<string, DocumentDetails>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<Omit<DocumentDetails, 'metadata' | 'places'> & { id: string; metadata: string; places: string | null }>(
    `SELECT documents.id, documents.knowledge_source_id, name, type, metadata, places,
       documents.content_hash AS stored_hash, held.content_hash
     FROM documents LEFT JOIN index_documents AS held
       ON held.document_id = documents.id AND held.index_id IN (${formatPlaceholders(indexIds)})
     WHERE documents.id IN (${formatPlaceholders(ids)})`,
    [...indexIds, ...ids],
  )
  return new Map(
    rows.map(({ id, metadata, places, ...rest }) => [
      id,
      {
        ...rest,
        metadata: JSON.parse(metadata) as Record<string, unknown>,
        places: places === null ? null : (JSON.parse(places) as Places),
      },
    ]),
  )
}

/** A document that was read from a file on disk. */
export interface FileRecord {
  id: string
  /** Relative to the folder of its source. */
  name: string
  path: string
  /** Size and times of the file when it was read. */
  fingerprint: string
}

/** Lists the files of documents. A document in an archive or mail has the file of its container. */
export async function listFileRecords(reader: DatabaseReader, documentIds: readonly string[]): Promise<FileRecord[]> {
  if (documentIds.length === 0) return []
  return reader.all<FileRecord>(
    `SELECT document.id, coalesce(container.name, document.name) AS name, document.metadata ->> '$.path' AS path,
       coalesce(container.fingerprint, document.fingerprint) AS fingerprint
     FROM documents AS document JOIN knowledge_sources AS source ON source.id = document.knowledge_source_id
       LEFT JOIN documents AS container ON container.knowledge_source_id = document.knowledge_source_id
         AND container.name = document.metadata ->> '$.container'
     WHERE document.id IN (${formatPlaceholders(documentIds)}) AND document.origin = 'found'
       AND source.type IN ('folder', 'file') AND document.metadata ->> '$.path' IS NOT NULL`,
    documentIds,
  )
}

export interface SourceDescriptions {
  name: string
  description: string
  folders: Record<string, string>
}

/** Returns the descriptions of the sources that have any. */
export async function getSourceDescriptions(reader: DatabaseReader, ids: readonly string[]): Promise<Map<string, SourceDescriptions>> {
  const rows = await reader.all<{ id: string; name: string; description: string; folders: string }>(
    `SELECT id, name, description, folder_descriptions AS folders FROM knowledge_sources
     WHERE id IN (${formatPlaceholders(ids)}) AND (description <> '' OR folder_descriptions <> '{}')`,
    ids,
  )
  return new Map(rows.map(({ id, folders, ...source }) => [id, { ...source, folders: JSON.parse(folders) as Record<string, string> }]))
}

interface CurrentDocument {
  content_hash: string
  /** An index that holds the document, if any. */
  index_id: string | null
  /** Hash of the content that this index holds. */
  held_hash: string | null
}

/** Returns documents with one of the indexes that hold them, preferring an index with the current content. */
export async function getCurrentDocuments(reader: DatabaseReader, ids: readonly string[]): Promise<Map<string, CurrentDocument>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.all<CurrentDocument & { id: string }>(
    `SELECT documents.id, documents.content_hash, held.index_id, held.content_hash AS held_hash
     FROM documents LEFT JOIN indexes ON indexes.knowledge_source_id = documents.knowledge_source_id
       LEFT JOIN index_documents AS held ON held.index_id = indexes.id AND held.document_id = documents.id
     WHERE documents.id IN (${formatPlaceholders(ids)})
     ORDER BY held.content_hash = documents.content_hash`,
    ids,
  )
  // Later rows win; those with the current content come last.
  return new Map(rows.map(({ id, ...document }) => [id, document]))
}

const formatPlaceholders = (values: readonly unknown[]): string => values.map(() => '?').join(', ')
