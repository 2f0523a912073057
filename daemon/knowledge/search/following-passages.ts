/** Lists the passages that follow a place in a document. */
import { splitHeadings } from '../../core/headings.ts'
import type { FollowingPassage } from '../../core/tool.ts'
import type { DatabaseReader } from '../../store/database.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import { getCurrentDocuments } from './search-store.ts'

const MAX_PASSAGES = 60

/** @param end the position in the text of the document, in characters */
export async function listFollowingPassages(
  reader: DatabaseReader,
  indexes: IndexRegistry,
  documentId: string,
  end: number,
): Promise<FollowingPassage[]> {
  const indexId = (await getCurrentDocuments(reader, [documentId])).get(documentId)?.index_id
  if (!indexId) return []
  const columns = ['start_at', 'end_at', 'content', 'headings']
  let rows: { start: number; end: number; content: string; headings: string }[] = []
  for await (const batch of indexes.getTextTable({ id: indexId }).listInBatches({ document_id: documentId }, columns)) {
    const later = batch.map((row) => ({
      start: row.start_at as number,
      end: row.end_at as number,
      content: row.content as string,
      headings: row.headings as string,
    }))
    rows = [...rows, ...later.filter((row) => row.end > end)].sort((a, b) => a.start - b.start).slice(0, MAX_PASSAGES)
  }
  let position = end
  return rows.map(({ start, end: next, content, headings }) => {
    // Passages overlap.
    const text = content.slice(Math.max(0, position - start))
    position = Math.max(position, next)
    return { content: text, headings: splitHeadings(headings) }
  })
}
