/** SQL of the documents whose tables are built. */
import type { Database, DatabaseReader } from '../../store/database.ts'
import type { TableDocument } from './table-store.ts'

export interface DocumentRow {
  id: string
  name: string
  type: string
  content_hash: string
}

/** Returns a text that changes with the documents of a source. */
export async function readSignature(reader: DatabaseReader, sourceId: string): Promise<string> {
  const row = await reader.get<{ count: number; latest: string | null }>(
    'SELECT count(*) AS count, max(updated_at) AS latest FROM documents WHERE knowledge_source_id = ?',
    [sourceId],
  )
  return `${row?.count} ${row?.latest}`
}

/** Lists the documents that were read without an error, by name. */
export async function listReadDocuments(reader: DatabaseReader, sourceId: string): Promise<DocumentRow[]> {
  return reader.all<DocumentRow>(
    `SELECT id, name, type, content_hash FROM documents
     WHERE knowledge_source_id = ? AND content_hash <> '' AND status <> 'failed' ORDER BY name`,
    [sourceId],
  )
}

/** Adds what was left out of the tables of a document to its notice, unless it is there. */
export async function addNotice(database: Database, { id, contentHash }: TableDocument, notice: string): Promise<void> {
  const sql = `UPDATE documents SET notice = CASE WHEN notice IS NULL THEN ? ELSE notice || ' ' || ? END
    WHERE id = ? AND content_hash = ? AND (notice IS NULL OR instr(notice, ?) = 0)`
  await database.write((transaction) => transaction.run(sql, [notice, notice, id, contentHash, notice]))
}
