/** SQL of the synchronizer: pending documents and status changes. */
import { type Database, type DatabaseReader, listColumn, runLater, type Transaction } from '../../store/database.ts'
import type { DocumentSummary } from './parser-task.ts'

export interface PendingDocument {
  id: string
  name: string
  size: number
  content_hash: string
}

export interface PendingVectors {
  document_id: string
  content_hash: string
  chunks: number
}

/** Lists documents whose current content is not in the index, or that were replaced since they were read. */
export async function listPendingDocuments(reader: DatabaseReader, sourceId: string, indexId: string): Promise<PendingDocument[]> {
  return reader.all<PendingDocument>(
    `SELECT d.id, d.name, d.size, d.content_hash
     FROM documents d LEFT JOIN index_documents i ON i.index_id = ? AND i.document_id = d.id
     WHERE d.knowledge_source_id = ? AND d.status NOT IN ('failed', 'skipped', 'recognizing')
       AND (i.document_id IS NULL OR i.content_hash <> d.content_hash OR d.status IN ('waiting', 'parsing'))
     ORDER BY d.id`,
    [indexId, sourceId],
  )
}

/** Lists documents in the index that were deleted or can no longer be read. */
export async function listStaleDocuments(reader: DatabaseReader, indexId: string): Promise<string[]> {
  return listColumn(
    reader,
    `SELECT i.document_id FROM index_documents i LEFT JOIN documents d ON d.id = i.document_id
     WHERE i.index_id = ? AND (d.id IS NULL OR d.status IN ('failed', 'skipped'))`,
    [indexId],
  )
}

export async function listPendingVectors(reader: DatabaseReader, indexId: string): Promise<PendingVectors[]> {
  return reader.all<PendingVectors>(
    'SELECT document_id, content_hash, chunks FROM index_documents WHERE index_id = ? AND embedded = 0 ORDER BY document_id',
    [indexId],
  )
}

/** Whether full-text search covers every readable document. */
export async function isTextComplete(reader: DatabaseReader, sourceId: string, indexId: string): Promise<boolean> {
  const missing = await reader.get(
    `SELECT 1 AS found FROM documents d LEFT JOIN index_documents i ON i.index_id = ? AND i.document_id = d.id
     WHERE d.knowledge_source_id = ? AND d.status NOT IN ('failed', 'skipped', 'recognizing') AND i.document_id IS NULL LIMIT 1`,
    [indexId, sourceId],
  )
  return missing === undefined
}

export async function markParsing(database: Database, sourceId: string): Promise<void> {
  const sql = "UPDATE documents SET status = 'parsing' WHERE knowledge_source_id = ? AND status = 'waiting'"
  await database.write((transaction) => transaction.run(sql, [sourceId]))
}

/** Reverts markParsing when a sync ends early. */
export async function resetParsing(transaction: Transaction, sourceId: string): Promise<void> {
  await transaction.run("UPDATE documents SET status = 'waiting' WHERE knowledge_source_id = ? AND status = 'parsing'", [sourceId])
}

export async function markCancelled(database: Database, sourceId: string): Promise<void> {
  await database.write(async (transaction) => {
    await resetParsing(transaction, sourceId)
    await transaction.run("UPDATE knowledge_sources SET status = 'pending', error = NULL WHERE id = ? AND status = 'syncing'", [sourceId])
  })
}

export interface IndexedText extends DocumentSummary {
  documentId: string
  contentHash: string
  passages: number
}

/** Skips documents that were replaced while they were read. */
export async function markParsed(transaction: Transaction, documents: readonly IndexedText[]): Promise<void> {
  const sql = `UPDATE documents SET status = ?, error = NULL, pages = ?, places = ?, notice = ?, chunks = ?
    WHERE id = ? AND content_hash = ?`
  for (const { documentId, contentHash, pages, places, notice, scans, passages } of documents) {
    const status = scans.length > 0 ? 'recognizing' : 'indexing'
    await runLater(transaction, sql, [status, pages, places && JSON.stringify(places), notice, passages, documentId, contentHash])
  }
}

/** Marks a document that cannot be read, or that is intact but has no text and is skipped. */
export async function markWithoutText(
  database: Database,
  { id, content_hash }: PendingDocument,
  status: 'failed' | 'skipped',
  reason: string,
): Promise<void> {
  const sql = 'UPDATE documents SET status = ?, error = ?, chunks = 0, updated_at = ? WHERE id = ? AND content_hash = ?'
  await database.write((transaction) => transaction.run(sql, [status, reason, new Date().toISOString(), id, content_hash]))
}

/** The next sync reads the document from its source again. */
export async function forgetFingerprint(database: Database, { id }: PendingDocument): Promise<void> {
  const sql = "UPDATE documents SET fingerprint = '' WHERE id = ? AND fingerprint IS NOT NULL"
  await database.write((transaction) => transaction.run(sql, [id]))
}

/** Marks documents, given by id or by source, as indexed once every index holds their current content with vectors. */
export async function markIndexed(
  database: Database,
  documents: readonly string[] | { sourceId: string },
  indexIds: readonly string[],
): Promise<void> {
  const isComplete = `EXISTS (SELECT 1 FROM index_documents i WHERE i.index_id = ? AND i.document_id = documents.id
    AND i.content_hash = documents.content_hash AND i.embedded = 1)`
  const [selection, value] =
    'sourceId' in documents
      ? ['knowledge_source_id = ?', documents.sourceId]
      : ['id IN (SELECT value FROM json_each(?))', JSON.stringify(documents)]
  const conditions = [selection, "status NOT IN ('indexed', 'failed', 'skipped', 'recognizing')", ...indexIds.map(() => isComplete)]
  await database.write((transaction) =>
    transaction.run(`UPDATE documents SET status = 'indexed' WHERE ${conditions.join(' AND ')}`, [value, ...indexIds]),
  )
}

export async function markReady(database: Database, indexId: string): Promise<void> {
  await database.write((transaction) => transaction.run('UPDATE indexes SET ready = 1 WHERE id = ? AND ready = 0', [indexId]))
}

export async function setSourceError(database: Database, sourceId: string, error: string): Promise<void> {
  const sql = "UPDATE knowledge_sources SET status = 'error', error = ? WHERE id = ?"
  await database.write((transaction) => transaction.run(sql, [error, sourceId]))
}

/** Marks a source whose sync starts when the transaction is committed; after a kill, it is resumed. */
export async function markSyncing(transaction: Transaction, sourceId: string): Promise<void> {
  await transaction.run("UPDATE knowledge_sources SET status = 'syncing', error = NULL WHERE id = ?", [sourceId])
}

/** The status is `syncing` if another sync follows. */
export async function markSynced(database: Database, sourceId: string, status: 'active' | 'syncing'): Promise<void> {
  const sql = 'UPDATE knowledge_sources SET status = ?, error = NULL, last_sync = ? WHERE id = ?'
  await database.write((transaction) => transaction.run(sql, [status, new Date().toISOString(), sourceId]))
}

/** Keeps the error of sources that already have one. */
export async function parkSources(transaction: Transaction, sourceIds: readonly string[], error: string): Promise<void> {
  // Documents without vectors wait, too: nothing works on them until a user starts a sync.
  const sql = "UPDATE documents SET status = 'waiting' WHERE knowledge_source_id = ? AND status IN ('parsing', 'indexing')"
  for (const id of sourceIds) {
    await transaction.run(sql, [id])
    await transaction.run("UPDATE knowledge_sources SET status = 'error', error = ? WHERE id = ? AND status <> 'error'", [error, id])
  }
}

/** Lists sources whose sync was interrupted when the daemon ended. */
export async function listInterruptedSources(reader: DatabaseReader): Promise<string[]> {
  return listColumn(reader, "SELECT id FROM knowledge_sources WHERE status = 'syncing'")
}

/** Lists sources with passages that lack vectors or with unfinished documents, as when an index update was interrupted. */
export async function listIncompleteSources(reader: DatabaseReader): Promise<string[]> {
  return listColumn(
    reader,
    `SELECT x.knowledge_source_id
     FROM index_documents i JOIN indexes x ON x.id = i.index_id JOIN knowledge_sources s ON s.id = x.knowledge_source_id
     WHERE i.embedded = 0 AND s.status = 'active'
     UNION
     SELECT d.knowledge_source_id FROM documents d JOIN knowledge_sources s ON s.id = d.knowledge_source_id
     WHERE d.status = 'parsing' OR (d.status IN ('indexing', 'recognizing') AND s.status = 'active')`,
  )
}

/** A query for the names of the leases of all sources. */
export const listSourceLeases = (prefix: string): string => `SELECT '${prefix}' || id AS name FROM knowledge_sources`

/** Lists sources with a schedule or a watched folder. */
export async function listAutomaticSources(reader: DatabaseReader): Promise<string[]> {
  const sql = `SELECT id FROM knowledge_sources WHERE configuration LIKE '%"schedule"%' OR configuration LIKE '%"watch":true%'`
  return listColumn(reader, sql)
}
