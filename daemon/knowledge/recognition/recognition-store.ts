/** SQL of text recognition: recognised pages, which are kept by content, and the documents that wait for it. */
import type { Database, DatabaseReader } from '../../store/database.ts'
import { RECOGNITION_OFF_MESSAGE } from '../readers/read-image.ts'
import type { PendingDocument } from '../sync/sync-store.ts'
import type { RecognizedPage } from './recognized-page.ts'

/** Most homes have no scans: a sync asks once, not once per document. */
export const hasRecognizedPages = async (reader: DatabaseReader): Promise<boolean> =>
  (await reader.get('SELECT 1 FROM recognized_pages LIMIT 1')) !== undefined

/** @param languages only pages that were recognised in these languages */
export async function listRecognizedPages(reader: DatabaseReader, contentHash: string, languages?: string): Promise<RecognizedPage[]> {
  const condition = languages === undefined ? '' : 'AND languages = ?'
  const sql = `SELECT page, text, confidence, problem FROM recognized_pages WHERE content_hash = ? ${condition} ORDER BY page`
  const values = languages === undefined ? [contentHash] : [contentHash, languages]
  const rows = await reader.all<RecognizedPage & { problem: string | null }>(sql, values)
  return rows.map(({ problem, ...page }) => ({ ...page, ...(problem === null ? {} : { problem }) }))
}

/** Replaces the text of the page in other languages. */
export async function storeRecognizedPage(
  database: Database,
  contentHash: string,
  languages: string,
  result: RecognizedPage,
): Promise<void> {
  const { page, text, confidence, problem = null } = result
  const sql = 'INSERT INTO recognized_pages (content_hash, languages, page, text, confidence, problem) VALUES (?, ?, ?, ?, ?, ?)'
  await database.write(async (transaction) => {
    await transaction.run('DELETE FROM recognized_pages WHERE content_hash = ? AND page = ?', [contentHash, page])
    await transaction.run(sql, [contentHash, languages, page, text, confidence, problem])
  })
}

/** The next sync recognises the pages again that were recognised in other languages. Their text is found until then. */
export async function markForRecognition(database: Database, sourceId: string, languages: string): Promise<void> {
  const sql = `UPDATE documents SET status = 'recognizing', error = NULL
    WHERE knowledge_source_id = ? AND status IN ('indexed', 'skipped', 'failed')
      AND content_hash IN (SELECT content_hash FROM recognized_pages WHERE languages <> ?)`
  await database.write((transaction) => transaction.run(sql, [sourceId, languages]))
}

/** Small documents first: most of them have one page. */
export async function listDocumentsToRecognize(reader: DatabaseReader, sourceId: string): Promise<PendingDocument[]> {
  const sql = `SELECT id, name, size, content_hash FROM documents
               WHERE knowledge_source_id = ? AND status = 'recognizing' ORDER BY size, id`
  return reader.all<PendingDocument>(sql, [sourceId])
}

/** Marks a document without any text so far. */
export async function markRecognizing(database: Database, { id, content_hash }: PendingDocument, pages: number): Promise<void> {
  const sql = "UPDATE documents SET status = 'recognizing', error = NULL, pages = ?, chunks = 0 WHERE id = ? AND content_hash = ?"
  await database.write((transaction) => transaction.run(sql, [pages, id, content_hash]))
}

/** The document is read again, with the recognised text. */
export async function markRecognized(database: Database, { id, content_hash }: PendingDocument): Promise<void> {
  const sql = "UPDATE documents SET status = 'waiting' WHERE id = ? AND content_hash = ? AND status = 'recognizing'"
  await database.write((transaction) => transaction.run(sql, [id, content_hash]))
}

/** After recognition was turned on or off, the documents that it affects are read again. */
export async function resetRecognition(database: Database, sourceId: string, isEnabled: boolean): Promise<void> {
  const [affected, values] = isEnabled
    ? ["status = 'skipped' AND content_hash <> '' AND error LIKE '%' || ?", [RECOGNITION_OFF_MESSAGE]]
    : ["status = 'recognizing'", []]
  const sql = `UPDATE documents SET status = 'waiting', error = NULL WHERE knowledge_source_id = ? AND ${affected}`
  await database.write((transaction) => transaction.run(sql, [sourceId, ...values]))
}

/** Deletes the text of content that no document has. */
export async function deleteUnusedPages(database: Database): Promise<void> {
  const sql = 'DELETE FROM recognized_pages WHERE content_hash NOT IN (SELECT content_hash FROM documents)'
  await database.write((transaction) => transaction.run(sql))
}
