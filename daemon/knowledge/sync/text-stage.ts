/** Reads documents and makes their text searchable by words, before anything is embedded. */

import { concurrently } from '../../async/map-concurrently.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { Originals } from '../../store/documents.ts'
import type { Chunk } from '../chunking/chunker.ts'
import type { Index } from '../indexes/index-store.ts'
import type { Indexes } from '../indexes/indexes.ts'
import { ReadFailure } from '../readers/read-document.ts'
import type { DocumentRows, IndexWriter } from './index-writer.ts'
import type { Reading } from './parser-pool.ts'
import type { ProgressBoard } from './progress.ts'
import { markFailed, markParsing, markRead, type PendingDocument, pendingText, type ReadDocument, staleDocuments } from './sync-store.ts'

/** A commit costs the same for one row and for thousands. */
const ROWS_A_COMMIT = 2_000
const READ_AT_ONCE = 4

export interface TextStage {
  database: Database
  originals: Originals
  reading: Reading
  indexes: Indexes
  writer: IndexWriter
  progress: ProgressBoard
}

interface ReadResult {
  document: PendingDocument
  pages: number | null
  /** Passages for each index that lacks the document. */
  passages: Map<Index, Chunk[]>
}

export async function readTexts(stage: TextStage, sourceId: string, indexes: readonly Index[], signal: AbortSignal): Promise<void> {
  const { database, writer, progress } = stage
  let changed = await eraseStale(stage, indexes)
  const lacking = await lackingBy(database, sourceId, indexes)
  if (lacking.length > 0) await markParsing(database, sourceId)
  progress.update(sourceId, { stage: 'reading', documents: 0, documents_total: lacking.length })
  const buffer = new Map<Index, (DocumentRows & ReadDocument)[]>(indexes.map((index) => [index, []]))
  let rows = 0
  let done = 0
  const flush = async () => {
    for (const [index, buffered] of buffer) {
      const documents = buffered.splice(0)
      // In one transaction with the index: a document that is there is not read again, so what it is known by must be there too.
      await writer.write(index, 'text', documents, (transaction) => markRead(transaction, documents))
    }
    rows = 0
  }
  for await (const result of concurrently(lacking, READ_AT_ONCE, ({ document, indexes: wanting }) =>
    read(stage, document, wanting, signal),
  )) {
    signal.throwIfAborted()
    progress.update(sourceId, { documents: ++done })
    changed = true
    progress.count(sourceId, result ? 'read' : 'unreadable')
    if (!result) continue
    const { document, pages, passages } = result
    const known = { documentId: document.id, contentHash: document.content_hash, pages, chunks: [...passages.values()][0]?.length ?? 0 }
    for (const [index, chunks] of passages) {
      buffer.get(index)?.push({ ...known, rows: chunks.map((chunk) => asRow(document.id, chunk)) })
      rows += chunks.length
    }
    if (rows >= ROWS_A_COMMIT) await flush()
  }
  await flush()
  // What could be read before and cannot any more.
  await eraseStale(stage, indexes)
  if (changed) for (const index of indexes) await stage.indexes.text(index).tidy()
}

async function eraseStale({ database, writer }: TextStage, indexes: readonly Index[]): Promise<boolean> {
  let erased = false
  for (const index of indexes) {
    const stale = await staleDocuments(database, index.id)
    await writer.erase(index, stale)
    erased ||= stale.length > 0
  }
  return erased
}

async function lackingBy(
  database: Database,
  sourceId: string,
  indexes: readonly Index[],
): Promise<{ document: PendingDocument; indexes: Index[] }[]> {
  const byDocument = new Map<string, { document: PendingDocument; indexes: Index[] }>()
  for (const index of indexes) {
    for (const document of await pendingText(database, sourceId, index.id)) {
      const entry = byDocument.get(document.id) ?? { document, indexes: [] }
      entry.indexes.push(index)
      byDocument.set(document.id, entry)
    }
  }
  return [...byDocument.values()]
}

/** A document that cannot be read is marked so, and the rest goes on. */
async function read(
  { database, originals, reading }: TextStage,
  document: PendingDocument,
  indexes: Index[],
  signal: AbortSignal,
): Promise<ReadResult | undefined> {
  try {
    const bytes = await originals.read(document.content_hash)
    const settings = indexes.map(({ chunk_size, chunk_overlap }) => ({ size: chunk_size, overlap: chunk_overlap }))
    const { document: about, chunks } = await reading.readAndChunk(bytes, document.name, settings, signal)
    return { document, pages: about.pages, passages: new Map(indexes.map((index, at) => [index, chunks[at] ?? []])) }
  } catch (error) {
    signal.throwIfAborted()
    const gone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!(error instanceof ReadFailure) && !gone) throw error
    await markFailed(database, document, gone ? 'Its original is no longer on disk; send it again.' : (error as Error).message)
    return undefined
  }
}

function asRow(documentId: string, { content, start, end, page, headings, position, words }: Chunk): PassageRow {
  return {
    id: `${documentId}:${position}`,
    document_id: documentId,
    page,
    position,
    start_at: start,
    end_at: end,
    headings: headings.join(' › '),
    content,
    words,
  }
}
