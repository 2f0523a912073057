/** Lists the passages before and after a place in a document. */
import { splitHeadings } from '../../core/headings.ts'
import type { Neighbours } from '../../core/tool.ts'
import type { DatabaseReader } from '../../store/database.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import { getCurrentDocuments } from './search-store.ts'

interface PassageRow {
  start: number
  end: number
  content: string
  headings: string
}

/** In each direction. */
const MAX_PASSAGES = 60

/** @param place the positions in the text of the document, in characters */
export async function listNeighbouringPassages(
  reader: DatabaseReader,
  indexes: IndexRegistry,
  documentId: string,
  place: { start: number; end: number },
): Promise<Neighbours | undefined> {
  const indexId = (await getCurrentDocuments(reader, [documentId])).get(documentId)?.index_id
  if (!indexId) return undefined
  const columns = ['start_at', 'end_at', 'content', 'headings']
  let isFound = false
  let before: PassageRow[] = []
  let after: PassageRow[] = []
  for await (const batch of indexes.getTextTable({ id: indexId }).listInBatches({ document_id: documentId }, columns)) {
    const rows = batch.map((row) => ({
      start: row.start_at as number,
      end: row.end_at as number,
      content: row.content as string,
      headings: row.headings as string,
    }))
    isFound ||= rows.some(({ start, end }) => start === place.start && end === place.end)
    before = [...before, ...rows.filter(({ start }) => start < place.start)]
      .sort((a, b) => b.end - a.end || b.start - a.start)
      .slice(0, MAX_PASSAGES)
    after = [...after, ...rows.filter(({ end }) => end > place.end)].sort((a, b) => a.start - b.start).slice(0, MAX_PASSAGES)
  }
  // A place in another version of the document says nothing about this one.
  return isFound ? cutNeighbours(before, after, place) : undefined
}

/** @param before and after are sorted, the closest first. */
export const cutNeighbours = (
  before: readonly PassageRow[],
  after: readonly PassageRow[],
  { start, end }: { start: number; end: number },
): Neighbours => ({ before: cutBefore(before, start).reverse(), after: cutAfter(after, end) })

/** Removes what passages closer to the one that was found repeat: passages overlap. */
function cutBefore(rows: readonly PassageRow[], start: number) {
  let position = start
  return rows.map((row) => {
    const content = row.content.slice(0, Math.max(0, position - row.start))
    const gap = Math.max(0, position - row.end)
    position = Math.min(position, row.start)
    return { content, headings: splitHeadings(row.headings), gap }
  })
}

function cutAfter(rows: readonly PassageRow[], end: number) {
  let position = end
  return rows.map((row) => {
    const content = row.content.slice(Math.max(0, position - row.start))
    const gap = Math.max(0, row.start - position)
    position = Math.max(position, row.end)
    return { content, headings: splitHeadings(row.headings), gap }
  })
}
