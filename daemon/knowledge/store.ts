/** Records and SQL of knowledge sources and documents. */
import type { Static } from 'typebox'
import { DOCUMENT_STATUSES, Document } from '../../src/contract/families/documents.ts'
import { KnowledgeSource } from '../../src/contract/families/knowledge-sources.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type DatabaseReader, listColumn, type Transaction } from '../store/database.ts'
import { Records, type Scope, type StoredRecord } from '../store/records.ts'

export type StoredSource = Omit<Static<typeof KnowledgeSource>, 'statistics' | 'progress' | 'watching'> &
  StoredRecord & { secrets: string | null }
export type StoredDocument = Static<typeof Document> & StoredRecord

export const sourceRecords = new Records<StoredSource>({
  table: 'knowledge_sources',
  schema: KnowledgeSource,
  computed: ['statistics', 'progress', 'watching'],
  hidden: ['secrets'],
})
export const documentRecords = new Records<StoredDocument>({ table: 'documents', schema: Document })

/** Restricts a list to documents, without the skipped files, unless the query asks for a status. */
export const excludeSkipped = ({ status }: ListQuery): Scope =>
  status === undefined ? { status: DOCUMENT_STATUSES.filter((each) => each !== 'skipped') } : {}

export async function listContentHashes(reader: DatabaseReader, sourceId: string): Promise<string[]> {
  const sql = "SELECT DISTINCT content_hash FROM documents WHERE knowledge_source_id = ? AND content_hash <> ''"
  return listColumn(reader, sql, [sourceId])
}

/** Lists names or IDs that begin with the prefix, without regard to the case of ASCII letters. */
export async function completeDocuments(
  reader: DatabaseReader,
  field: 'name' | 'id',
  prefix: string,
  limit: number,
  sourceId?: string,
): Promise<string[]> {
  const [scope, values] = sourceId === undefined ? ['', []] : [' AND knowledge_source_id = ?', [sourceId]]
  return listColumn(
    reader,
    `SELECT DISTINCT ${field} AS value FROM documents
     WHERE substr(${field}, 1, length(?)) = ? COLLATE NOCASE${scope} ORDER BY value LIMIT ?`,
    [prefix, prefix, ...values, limit],
  )
}

/** Lists the names of documents whose last part is this one, without regard to the case of ASCII letters. */
export function listNamesEndingIn(reader: DatabaseReader, part: string, limit: number, sourceId?: string): Promise<string[]> {
  const [scope, values] = sourceId === undefined ? ['', []] : [' AND knowledge_source_id = ?', [sourceId]]
  return listColumn(
    reader,
    `SELECT DISTINCT name AS value FROM documents
     WHERE substr('/' || name, -length(?)) = ? COLLATE NOCASE${scope} ORDER BY value LIMIT ?`,
    [`/${part}`, `/${part}`, ...values, limit],
  )
}

export async function isContentInUse(reader: DatabaseReader, contentHash: string): Promise<boolean> {
  return (await reader.get('SELECT 1 AS found FROM documents WHERE content_hash = ? LIMIT 1', [contentHash])) !== undefined
}

export async function listAllContentHashes(reader: DatabaseReader): Promise<Set<string>> {
  return new Set(await listColumn(reader, 'SELECT DISTINCT content_hash FROM documents'))
}

/** Deletes the documents of an archive or mail that was deleted. Returns the hashes of their originals. */
export async function deleteMembers(transaction: Transaction, sourceId: string, container: string): Promise<string[]> {
  const where = "knowledge_source_id = ? AND origin = 'found' AND substr(name, 1, length(?)) = ?"
  const values = [sourceId, `${container}/`, `${container}/`]
  const contentHashes = await listColumn(transaction, `SELECT DISTINCT content_hash FROM documents WHERE ${where}`, values)
  await transaction.run(`DELETE FROM documents WHERE ${where}`, values)
  return contentHashes
}

export async function deleteDocuments(transaction: Transaction, sourceId: string): Promise<void> {
  await transaction.run('DELETE FROM documents WHERE knowledge_source_id = ?', [sourceId])
}

/** Marks a discovered document as uploaded, so that a sync does not delete it when it is missing from the source. */
export async function markAsSent(transaction: Transaction, documentId: string): Promise<void> {
  await transaction.run("UPDATE documents SET origin = 'sent', fingerprint = NULL WHERE id = ?", [documentId])
}

/** Older versions stored credentials in repository URLs. */
export async function findSourcesWithLogins(reader: DatabaseReader): Promise<string[]> {
  return listColumn(reader, "SELECT id FROM knowledge_sources WHERE type = 'git' AND configuration LIKE '%://%@%'")
}
