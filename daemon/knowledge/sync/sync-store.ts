/** What synchronization asks and tells the database. */
import type { Database, Reader, Transaction } from '../../store/database.ts'

export interface PendingDocument {
  id: string
  name: string
  content_hash: string
}

export interface PendingVectors {
  document_id: string
  content_hash: string
  chunks: number
}

/** Documents whose present content is not in the index yet, or was replaced since it was read and is back: nobody knows any more what came of it. */
export async function listPendingDocuments(reader: Reader, sourceId: string, indexId: string): Promise<PendingDocument[]> {
  return reader.all<PendingDocument>(
    "SELECT d.id, d.name, d.content_hash FROM documents d LEFT JOIN index_documents i ON i.index_id = ? AND i.document_id = d.id WHERE d.knowledge_source_id = ? AND d.status <> 'failed' AND (i.document_id IS NULL OR i.content_hash <> d.content_hash OR d.status IN ('waiting', 'parsing')) ORDER BY d.id",
    [indexId, sourceId],
  )
}

/** Documents in the index that are no more, or cannot be read any more. */
export async function listStaleDocuments(reader: Reader, indexId: string): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    "SELECT i.document_id AS id FROM index_documents i LEFT JOIN documents d ON d.id = i.document_id WHERE i.index_id = ? AND (d.id IS NULL OR d.status = 'failed')",
    [indexId],
  )
  return rows.map(({ id }) => id)
}

export async function listPendingVectors(reader: Reader, indexId: string): Promise<PendingVectors[]> {
  return reader.all<PendingVectors>(
    'SELECT document_id, content_hash, chunks FROM index_documents WHERE index_id = ? AND embedded = 0 ORDER BY document_id',
    [indexId],
  )
}

/** Whether every document that can be read is in the index, at least by its words. */
export async function isTextComplete(reader: Reader, sourceId: string, indexId: string): Promise<boolean> {
  const lacking = await reader.get(
    "SELECT 1 AS found FROM documents d LEFT JOIN index_documents i ON i.index_id = ? AND i.document_id = d.id WHERE d.knowledge_source_id = ? AND d.status <> 'failed' AND i.document_id IS NULL LIMIT 1",
    [indexId, sourceId],
  )
  return lacking === undefined
}

/** Says that documents are being read for the first time. */
export async function markParsing(database: Database, sourceId: string): Promise<void> {
  await database.write((transaction) =>
    transaction.run("UPDATE documents SET status = 'parsing' WHERE knowledge_source_id = ? AND status = 'waiting'", [sourceId]),
  )
}

/** What was being read when a synchronization ended early waits again. */
export async function resetParsing(transaction: Transaction, sourceId: string): Promise<void> {
  await transaction.run("UPDATE documents SET status = 'waiting' WHERE knowledge_source_id = ? AND status = 'parsing'", [sourceId])
}

/** What is no longer under way does not say so. */
export async function markCancelled(database: Database, sourceId: string): Promise<void> {
  await database.write(async (transaction) => {
    await resetParsing(transaction, sourceId)
    await transaction.run("UPDATE knowledge_sources SET status = 'pending', error = NULL WHERE id = ? AND status = 'syncing'", [sourceId])
  })
}

export interface ParsedDocument {
  documentId: string
  contentHash: string
  pages: number | null
  passages: number
}

/** Of a document that was replaced meanwhile nothing is said: what was read is no longer its content. */
export async function markParsed(transaction: Transaction, documents: readonly ParsedDocument[]): Promise<void> {
  for (const { documentId, contentHash, pages, passages: chunks } of documents)
    await transaction.run(
      "UPDATE documents SET status = 'indexing', error = NULL, pages = ?, chunks = ? WHERE id = ? AND content_hash = ?",
      [pages, chunks, documentId, contentHash],
    )
}

export async function markFailed(database: Database, { id, content_hash }: PendingDocument, why: string): Promise<void> {
  await database.write((transaction) =>
    transaction.run("UPDATE documents SET status = 'failed', error = ?, chunks = 0, updated_at = ? WHERE id = ? AND content_hash = ?", [
      why,
      new Date().toISOString(),
      id,
      content_hash,
    ]),
  )
}

/** A document is indexed once every index has its present content, embedded. Looks at the documents that are named, or at all of a source. */
export async function markIndexed(
  database: Database,
  documents: readonly string[] | { of: string },
  indexIds: readonly string[],
): Promise<void> {
  const complete = indexIds
    .map(
      () =>
        'EXISTS (SELECT 1 FROM index_documents i WHERE i.index_id = ? AND i.document_id = documents.id AND i.content_hash = documents.content_hash AND i.embedded = 1)',
    )
    .join(' AND ')
  const [which, value] =
    'of' in documents ? ['knowledge_source_id = ?', documents.of] : ['id IN (SELECT value FROM json_each(?))', JSON.stringify(documents)]
  await database.write((transaction) =>
    transaction.run(`UPDATE documents SET status = 'indexed' WHERE ${which} AND status NOT IN ('indexed', 'failed') AND ${complete}`, [
      value,
      ...indexIds,
    ]),
  )
}

export async function markReady(database: Database, indexId: string): Promise<void> {
  await database.write((transaction) => transaction.run('UPDATE indexes SET ready = 1 WHERE id = ? AND ready = 0', [indexId]))
}

export async function setSourceStatus(
  database: Database,
  sourceId: string,
  status: 'syncing' | 'error',
  error: string | null = null,
): Promise<void> {
  await database.write((transaction) =>
    transaction.run('UPDATE knowledge_sources SET status = ?, error = ? WHERE id = ?', [status, error, sourceId]),
  )
}

/** It is up to date; `syncing` where it is looked at once more all the same. */
export async function markSynced(database: Database, sourceId: string, status: 'active' | 'syncing'): Promise<void> {
  const now = new Date().toISOString()
  await database.write((transaction) =>
    transaction.run('UPDATE knowledge_sources SET status = ?, error = NULL, last_sync = ? WHERE id = ?', [status, now, sourceId]),
  )
}

/** Sources that were being synchronized when the daemon was last heard of. */
export async function listInterruptedSources(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ id: string }>("SELECT id FROM knowledge_sources WHERE status = 'syncing'")
  return rows.map(({ id }) => id)
}

/** Sources that were active when the daemon was last heard of, and yet have passages without vectors, or documents that were being read: as where a tool was changed. */
export async function listIncompleteSources(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    "SELECT x.knowledge_source_id AS id FROM index_documents i JOIN indexes x ON x.id = i.index_id JOIN knowledge_sources s ON s.id = x.knowledge_source_id WHERE i.embedded = 0 AND s.status = 'active' UNION SELECT d.knowledge_source_id FROM documents d JOIN knowledge_sources s ON s.id = d.knowledge_source_id WHERE d.status = 'parsing' OR (d.status = 'indexing' AND s.status = 'active')",
  )
  return rows.map(({ id }) => id)
}

/** Sources that are synchronized without being asked: on a schedule, or as their folder changes. */
export async function listAutomaticSources(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ id: string }>('SELECT id FROM knowledge_sources WHERE configuration LIKE ? OR configuration LIKE ?', [
    '%"schedule"%',
    '%"watch":true%',
  ])
  return rows.map(({ id }) => id)
}
