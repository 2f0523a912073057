/** Records and SQL of knowledge sources and documents. */
import type { Static } from 'typebox'
import { DOCUMENT_STATUSES, Document } from '../../src/contract/families/documents.ts'
import { KnowledgeSource, type SourceStatistics } from '../../src/contract/families/knowledge-sources.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type Database, type DatabaseReader, listColumn, type Transaction } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import { Records, type Scope, type StoredRecord } from '../store/records.ts'

export type StoredSource = Omit<Static<typeof KnowledgeSource>, 'statistics' | 'progress' | 'watching'> &
  StoredRecord & { secrets: string | null }
export type StoredDocument = Static<typeof Document> & StoredRecord
type Statistics = Static<typeof SourceStatistics>

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

/** Lists names or IDs that begin with the prefix. */
export const completeDocuments = (reader: DatabaseReader, field: 'name' | 'id', prefix: string, limit: number, sourceId?: string) =>
  listMatching(reader, field, `substr(${field}, 1, length(?))`, prefix, limit, sourceId)

/** Lists the names of documents whose last part is this one. */
export const listNamesEndingIn = (reader: DatabaseReader, part: string, limit: number, sourceId?: string) =>
  listMatching(reader, 'name', "substr('/' || name, -length(?))", `/${part}`, limit, sourceId)

/** `compared` is the part of each value, as long as the text, which must equal it without regard to the case of ASCII letters. */
function listMatching(
  reader: DatabaseReader,
  field: string,
  compared: string,
  text: string,
  limit: number,
  sourceId: string | undefined,
): Promise<string[]> {
  const [scope, values] = sourceId === undefined ? ['', []] : [' AND knowledge_source_id = ?', [sourceId]]
  const sql = `SELECT DISTINCT ${field} AS value FROM documents WHERE ${compared} = ? COLLATE NOCASE${scope} ORDER BY value LIMIT ?`
  return listColumn(reader, sql, [text, text, ...values, limit])
}

export async function isContentInUse(reader: DatabaseReader, contentHash: string): Promise<boolean> {
  return (await reader.get('SELECT 1 AS found FROM documents WHERE content_hash = ? LIMIT 1', [contentHash])) !== undefined
}

/** Deletes the stored original of a document unless another document has the same content. */
export async function releaseOriginal(originals: OriginalStore, database: Database, contentHash: string | undefined): Promise<void> {
  if (contentHash) await originals.release(contentHash, (reader = database) => isContentInUse(reader, contentHash))
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

/** Counts the documents, passages and skipped files of a source. */
export async function getStatistics(reader: DatabaseReader, sourceId: string): Promise<Statistics> {
  const sums = await reader.get<Omit<Statistics, 'skipped_types'>>(
    `SELECT coalesce(sum(status <> 'skipped'), 0) AS documents, coalesce(sum(chunks), 0) AS chunks,
       coalesce(sum(status = 'failed'), 0) AS failed, coalesce(sum(status = 'skipped'), 0) AS skipped,
       coalesce(sum(status = 'recognizing'), 0) AS recognizing,
       coalesce(sum(CASE WHEN status = 'indexed' THEN chunks ELSE 0 END), 0) AS embedded
     FROM documents WHERE knowledge_source_id = ?`,
    [sourceId],
  )
  const { documents = 0, chunks = 0, failed = 0, skipped = 0, embedded = 0, recognizing = 0 } = sums ?? {}
  const skipped_types = skipped > 0 ? await countSkippedTypes(reader, sourceId) : {}
  return { documents, chunks, failed, skipped, skipped_types, embedded, recognizing }
}

/** Counts skipped files by type, the most frequent first. */
async function countSkippedTypes(reader: DatabaseReader, sourceId: string): Promise<Record<string, number>> {
  const rows = await reader.all<{ type: string; total: number }>(
    `SELECT type, count(*) AS total FROM documents WHERE knowledge_source_id = ? AND status = 'skipped'
     GROUP BY type ORDER BY total DESC, type`,
    [sourceId],
  )
  return Object.fromEntries(rows.map(({ type, total }) => [type, total]))
}
