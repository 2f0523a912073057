/** SQL for documents that a sync discovers. */
import { generateId } from '../../core/identifiers.ts'
import type { DatabaseReader, Transaction } from '../../store/database.ts'
import { documentRecords, type StoredDocument, sourceRecords } from '../store.ts'

export type KnownDocument = Pick<StoredDocument, 'id' | 'name' | 'content_hash' | 'status' | 'error'> & {
  fingerprint: string | null
  origin: 'sent' | 'found'
}

interface DiscoveredDocument {
  sourceId: string
  name: string
  type: string
  fingerprint: string
  contentHash: string
  size: number
  status: 'waiting' | 'failed' | 'skipped'
  error: string | null
  metadata: Record<string, unknown>
}

export async function listKnownDocuments(reader: DatabaseReader, sourceId: string): Promise<KnownDocument[]> {
  return reader.all<KnownDocument>(
    'SELECT id, name, content_hash, status, error, fingerprint, origin FROM documents WHERE knowledge_source_id = ?',
    [sourceId],
  )
}

export async function setFingerprint(transaction: Transaction, documentId: string, fingerprint: string): Promise<void> {
  await transaction.run('UPDATE documents SET fingerprint = ? WHERE id = ?', [fingerprint, documentId])
}

/** Stores that the documents of an uploaded container are up to date, and why some are missing. It may have been replaced meanwhile. */
export async function recordExpansion(
  transaction: Transaction,
  { id, content_hash }: KnownDocument,
  fingerprint: string,
  problem: string | null,
): Promise<void> {
  const failure = problem === null ? '' : ", status = 'failed', error = ?"
  await transaction.run(`UPDATE documents SET fingerprint = ?${failure} WHERE id = ? AND content_hash = ? AND origin = 'sent'`, [
    fingerprint,
    ...(problem === null ? [] : [problem]),
    id,
    content_hash,
  ])
}

/** Inserts a document or updates its known record. Returns false if the source was deleted. */
export async function storeDiscovered(
  transaction: Transaction,
  known: KnownDocument | undefined,
  { sourceId, name, type, fingerprint, contentHash, size, status, error, metadata }: DiscoveredDocument,
): Promise<boolean> {
  if (!(await sourceRecords.has(transaction, sourceId))) return false
  const now = new Date().toISOString()
  if (known) {
    await transaction.run(
      `UPDATE documents SET content_hash = ?, size = ?, status = ?, error = ?, metadata = ?, fingerprint = ?, updated_at = ?,
       version = version + 1 WHERE id = ?`,
      [contentHash, size, status, error, JSON.stringify(metadata), fingerprint, now, known.id],
    )
    return true
  }
  const id = generateId('doc')
  const content = { content_hash: contentHash, size, status, error, metadata, notice: null, pages: null, chunks: 0 }
  const record = { id, knowledge_source_id: sourceId, name, type, ...content, version: 1, created_at: now, updated_at: now }
  await documentRecords.insert(transaction, record)
  await transaction.run("UPDATE documents SET origin = 'found', fingerprint = ? WHERE id = ?", [fingerprint, id])
  return true
}
