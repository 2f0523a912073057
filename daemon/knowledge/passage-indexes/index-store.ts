/** SQL of indexes: their settings, the tools that use them and the documents they hold. */
import { DEFAULT_EMBEDDING_MODEL } from '../../../src/contract/schemas/passages.ts'
import { generateId } from '../../core/identifiers.ts'
import { type DatabaseReader, listColumn, runLater, type Transaction } from '../../store/database.ts'
import { CHUNKING_VERSION } from '../chunking/chunking-settings.ts'

/** Increased when the embedded model has other weights. Indexes of other models are not rebuilt: embedding them may cost money. */
const EMBEDDED_MODEL_VERSION = 1

export interface IndexSettings {
  embedding_model: string
  chunk_size: number
  chunk_overlap: number
}

export interface Index extends IndexSettings {
  id: string
  knowledge_source_id: string
  /** The result of getIndexVersion when it was made. */
  chunking_version: number
  /** 1 once the index has been complete; until then another index of the source answers queries. */
  ready: number
  generation: number
  /** The batch being written, as JSON; undone at the next start. */
  batch: string | null
}

export type IndexSide = 'text' | 'vectors'

/** Documents whose rows may be in a table although the database does not record them. Stored as JSON. */
export interface Batch {
  side: IndexSide
  generation: number
  documents: string[]
}

export async function listAllIndexes(reader: DatabaseReader): Promise<Index[]> {
  return reader.all<Index>('SELECT * FROM indexes')
}

export async function listIndexes(reader: DatabaseReader, sourceId: string): Promise<Index[]> {
  return reader.all<Index>('SELECT * FROM indexes WHERE knowledge_source_id = ? ORDER BY id', [sourceId])
}

/** Lists the indexes with these settings, the newest version first. */
export async function listIndexVersions(
  reader: DatabaseReader,
  sourceId: string,
  { embedding_model, chunk_size, chunk_overlap }: IndexSettings,
): Promise<Index[]> {
  const sql = `SELECT * FROM indexes WHERE knowledge_source_id = ? AND embedding_model = ? AND chunk_size = ? AND chunk_overlap = ?
    ORDER BY chunking_version DESC`
  return reader.all<Index>(sql, [sourceId, embedding_model, chunk_size, chunk_overlap])
}

/** Changes when the same documents would have other passages or other vectors. */
export const getIndexVersion = (embeddingModel: string): number =>
  CHUNKING_VERSION + (embeddingModel === DEFAULT_EMBEDDING_MODEL ? EMBEDDED_MODEL_VERSION : 0)

export const isCurrentIndex = (index: Index): boolean => index.chunking_version === getIndexVersion(index.embedding_model)

export async function indexExists(reader: DatabaseReader, indexId: string): Promise<boolean> {
  return (await reader.get('SELECT 1 AS found FROM indexes WHERE id = ?', [indexId])) !== undefined
}

export async function insertIndex(
  transaction: Transaction,
  sourceId: string,
  { embedding_model, chunk_size, chunk_overlap }: IndexSettings,
): Promise<Index> {
  const settings = { embedding_model, chunk_size, chunk_overlap, chunking_version: getIndexVersion(embedding_model) }
  const index: Index = { id: generateId('idx'), knowledge_source_id: sourceId, ...settings, ready: 0, generation: 0, batch: null }
  await transaction.run(
    `INSERT INTO indexes (id, knowledge_source_id, embedding_model, chunk_size, chunk_overlap, chunking_version, ready, generation, batch)
     VALUES (?, ?, ?, ?, ?, ?, 0, 0, NULL)`,
    [index.id, sourceId, embedding_model, chunk_size, chunk_overlap, index.chunking_version],
  )
  return index
}

export async function deleteIndex(transaction: Transaction, indexId: string): Promise<void> {
  await transaction.run('DELETE FROM index_documents WHERE index_id = ?', [indexId])
  await transaction.run('DELETE FROM index_users WHERE index_id = ?', [indexId])
  await transaction.run('DELETE FROM indexes WHERE id = ?', [indexId])
}

/** Deletes rows of deleted sources and indexes. */
export async function deleteOrphans(transaction: Transaction): Promise<void> {
  await transaction.run('DELETE FROM indexes WHERE knowledge_source_id NOT IN (SELECT id FROM knowledge_sources)')
  for (const table of ['index_documents', 'index_users'])
    await transaction.run(`DELETE FROM ${table} WHERE index_id NOT IN (SELECT id FROM indexes)`)
}

export async function listUsedIndexIds(reader: DatabaseReader, sourceId: string): Promise<string[]> {
  const sql = 'SELECT DISTINCT index_id FROM index_users JOIN indexes ON indexes.id = index_id WHERE knowledge_source_id = ?'
  return listColumn(reader, sql, [sourceId])
}

export async function addIndexUser(transaction: Transaction, indexId: string, userId: string): Promise<void> {
  await transaction.run('INSERT INTO index_users (index_id, user_id) VALUES (?, ?)', [indexId, userId])
}

export async function listIndexesByModel(reader: DatabaseReader, embeddingModel: string): Promise<Index[]> {
  return reader.all<Index>('SELECT * FROM indexes WHERE embedding_model = ?', [embeddingModel])
}

export async function listIndexUsers(reader: DatabaseReader, indexId: string): Promise<string[]> {
  return listColumn(reader, 'SELECT user_id FROM index_users WHERE index_id = ?', [indexId])
}

/** Returns the tool that uses an index, unless several do. */
export async function findOnlyUser(reader: DatabaseReader, indexId: string): Promise<string | undefined> {
  const users = await listIndexUsers(reader, indexId)
  return users.length === 1 ? users[0] : undefined
}

/** Returns the sources whose indexes the tool used. */
export async function removeIndexUser(transaction: Transaction, userId: string): Promise<string[]> {
  const sql = 'SELECT DISTINCT knowledge_source_id FROM index_users JOIN indexes ON indexes.id = index_id WHERE user_id = ?'
  const sourceIds = await listColumn(transaction, sql, [userId])
  await transaction.run('DELETE FROM index_users WHERE user_id = ?', [userId])
  return sourceIds
}

/** Lists indexes whose embedding model was deleted. */
export async function listOrphanedIndexes(reader: DatabaseReader, sourceId: string): Promise<Index[]> {
  const sql =
    'SELECT * FROM indexes WHERE knowledge_source_id = ? AND embedding_model <> ? AND embedding_model NOT IN (SELECT id FROM models)'
  return reader.all<Index>(sql, [sourceId, DEFAULT_EMBEDDING_MODEL])
}

export async function moveIndexUsers(transaction: Transaction, fromIndex: string, toIndex: string): Promise<void> {
  await transaction.run('UPDATE OR IGNORE index_users SET index_id = ? WHERE index_id = ?', [toIndex, fromIndex])
  await transaction.run('DELETE FROM index_users WHERE index_id = ?', [fromIndex])
}

/** Stores the documents about to be written and returns their generation. */
export async function beginBatch(transaction: Transaction, indexId: string, side: IndexSide, documents: string[]): Promise<number> {
  const row = await transaction.get<{ generation: number }>('SELECT generation FROM indexes WHERE id = ?', [indexId])
  const generation = (row?.generation ?? 0) + 1
  const batch: Batch = { side, generation, documents }
  await runLater(transaction, 'UPDATE indexes SET generation = ?, batch = ? WHERE id = ?', [generation, JSON.stringify(batch), indexId])
  return generation
}

export async function endBatch(transaction: Transaction, indexId: string): Promise<void> {
  await runLater(transaction, 'UPDATE indexes SET batch = NULL WHERE id = ?', [indexId])
}

/** Records that an index holds the text or the vectors of a document. */
export async function recordDocument(
  transaction: Transaction,
  indexId: string,
  side: IndexSide,
  { documentId, contentHash, chunks }: { documentId: string; contentHash: string; chunks: number },
): Promise<void> {
  if (side === 'text')
    await runLater(
      transaction,
      'INSERT OR REPLACE INTO index_documents (index_id, document_id, content_hash, chunks, embedded) VALUES (?, ?, ?, ?, 0)',
      [indexId, documentId, contentHash, chunks],
    )
  else {
    const sql = 'UPDATE index_documents SET embedded = 1 WHERE index_id = ? AND document_id = ? AND content_hash = ?'
    await runLater(transaction, sql, [indexId, documentId, contentHash])
  }
}

/** A document without its text is not in the index; one without its vectors is embedded again. */
const FORGET = { text: 'DELETE FROM index_documents', vectors: 'UPDATE index_documents SET embedded = 0' }

export async function forgetDocument(transaction: Transaction, indexId: string, side: IndexSide, documentId: string): Promise<void> {
  await runLater(transaction, `${FORGET[side]} WHERE index_id = ? AND document_id = ?`, [indexId, documentId])
}

export async function forgetAllDocuments(transaction: Transaction, indexId: string, side: IndexSide): Promise<void> {
  await transaction.run(`${FORGET[side]} WHERE index_id = ?`, [indexId])
  await transaction.run('UPDATE indexes SET ready = 0, batch = NULL WHERE id = ?', [indexId])
}

/** Returns the number of rows that each table should have. */
export async function countExpectedRows(reader: DatabaseReader, indexId: string): Promise<Record<IndexSide, number>> {
  const sql = `SELECT coalesce(sum(chunks), 0) AS text, coalesce(sum(CASE WHEN embedded = 1 THEN chunks ELSE 0 END), 0) AS vectors
    FROM index_documents WHERE index_id = ?`
  return (await reader.get<Record<IndexSide, number>>(sql, [indexId])) ?? { text: 0, vectors: 0 }
}
