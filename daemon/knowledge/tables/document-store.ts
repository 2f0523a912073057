/** SQL of the documents whose tables are built. */
import type { DatabaseReader } from '../../store/database.ts'

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
