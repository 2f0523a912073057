/** SQL of the documents whose tables are built. */
import type { Database, DatabaseReader } from '../../store/database.ts'
import type { PendingDocument } from '../sync/sync-store.ts'
import type { TableDocument } from './table-store.ts'

type DocumentRow = PendingDocument & { type: string }

/** Returns a text that changes with the documents of a source: their number and the time of the last change. */
export async function readSignature(reader: DatabaseReader, sourceId: string): Promise<string> {
  const row = await reader.get<{ count: number; latest: string | null }>(
    'SELECT count(*) AS count, max(updated_at) AS latest FROM documents WHERE knowledge_source_id = ?',
    [sourceId],
  )
  return `${row?.count} ${row?.latest ?? ''}`
}

/** Lists the documents that were read without an error, by name. Those before `since`, the time of a signature, are left out. */
export async function listReadDocuments(reader: DatabaseReader, sourceId: string, since = ''): Promise<DocumentRow[]> {
  return reader.all<DocumentRow>(
    `SELECT id, name, type, size, content_hash FROM documents
     WHERE knowledge_source_id = ? AND content_hash <> '' AND status <> 'failed' AND updated_at >= ? ORDER BY name`,
    [sourceId, since],
  )
}

/** Precedes what was left out of tables, at the end of a document's notice. */
const MARK = 'Tables: '

/** Stores what was left out of the tables of a document in its notice; null removes it. */
export async function setTableNotice(database: Database, document: TableDocument, notice: string | null): Promise<void> {
  // Most documents need no change, and therefore no transaction.
  if ((await composeNotice(database, document, notice)) === undefined) return
  await database.write(async (transaction) => {
    const composed = await composeNotice(transaction, document, notice)
    if (composed !== undefined) await transaction.run('UPDATE documents SET notice = ? WHERE id = ?', [composed, document.id])
  })
}

/** Returns undefined if the document has this notice, or another content by now. */
async function composeNotice(
  reader: DatabaseReader,
  { id, contentHash }: TableDocument,
  notice: string | null,
): Promise<string | null | undefined> {
  const sql = 'SELECT notice FROM documents WHERE id = ? AND content_hash = ?'
  const [row] = await reader.all<{ notice: string | null }>(sql, [id, contentHash])
  if (!row) return undefined
  const [others = ''] = (row.notice ?? '').split(MARK)
  const composed = `${others.trim()}${notice === null ? '' : ` ${MARK}${notice}`}`.trim() || null
  return composed === row.notice ? undefined : composed
}
