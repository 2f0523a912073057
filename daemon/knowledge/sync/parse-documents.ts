/** Reads documents and makes their text searchable by words, before anything is embedded. */

import { concurrently } from '../../async/map-concurrently.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { Originals } from '../../store/documents.ts'
import type { Passage } from '../chunking/chunk-document.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import type { Index } from '../indexes/index-store.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import type { DocumentRows, IndexWriter } from './index-writer.ts'
import type { ParserPool } from './parser-pool.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import {
  listPendingDocuments,
  listStaleDocuments,
  markFailed,
  markParsed,
  markParsing,
  type ParsedDocument,
  type PendingDocument,
} from './sync-store.ts'

/** A commit costs the same for one row and for thousands. */
const ROWS_PER_COMMIT = 2_000
const MAX_CONCURRENT_PARSES = 4

export interface ParseDependencies {
  database: Database
  originals: Originals
  parserPool: ParserPool
  indexes: IndexRegistry
  writer: IndexWriter
  progress: ProgressTracker
}

interface ParseResult {
  document: PendingDocument
  pages: number | null
  /** Passages for each index that lacks the document. */
  passages: Map<Index, Passage[]>
}

export async function parseDocuments(
  stage: ParseDependencies,
  sourceId: string,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> {
  const { database, writer, progress } = stage
  let changed = await eraseStaleDocuments(stage, indexes)
  const lacking = await listMissingDocuments(database, sourceId, indexes)
  if (lacking.length > 0) await markParsing(database, sourceId)
  progress.update(sourceId, { stage: 'reading', documents: 0, documents_total: lacking.length })
  const buffer = new Map<Index, (DocumentRows & ParsedDocument)[]>(indexes.map((index) => [index, []]))
  let rows = 0
  let done = 0
  const flush = async () => {
    for (const [index, buffered] of buffer) {
      const documents = buffered.splice(0)
      // In one transaction with the index: a document that is there is not read again, so what it is known by must be there too.
      await writer.write(index, 'text', documents, (transaction) => markParsed(transaction, documents))
    }
    rows = 0
  }
  for await (const result of concurrently(lacking, MAX_CONCURRENT_PARSES, ({ document, indexes: wanting }) =>
    parseDocument(stage, document, wanting, signal),
  )) {
    signal.throwIfAborted()
    progress.update(sourceId, { documents: ++done })
    changed = true
    progress.countChange(sourceId, result ? 'read' : 'unreadable')
    if (!result) continue
    const { document, pages, passages } = result
    const known = { documentId: document.id, contentHash: document.content_hash, pages, passages: [...passages.values()][0]?.length ?? 0 }
    for (const [index, chunks] of passages) {
      buffer.get(index)?.push({ ...known, rows: chunks.map((chunk) => toRow(document.id, chunk)) })
      rows += chunks.length
    }
    if (rows >= ROWS_PER_COMMIT) await flush()
  }
  await flush()
  // What could be read before and cannot any more.
  await eraseStaleDocuments(stage, indexes)
  if (changed) for (const index of indexes) await stage.indexes.getTextTable(index).tidy()
}

async function eraseStaleDocuments({ database, writer }: ParseDependencies, indexes: readonly Index[]): Promise<boolean> {
  let erased = false
  for (const index of indexes) {
    const stale = await listStaleDocuments(database, index.id)
    await writer.erase(index, stale)
    erased ||= stale.length > 0
  }
  return erased
}

async function listMissingDocuments(
  database: Database,
  sourceId: string,
  indexes: readonly Index[],
): Promise<{ document: PendingDocument; indexes: Index[] }[]> {
  const byDocument = new Map<string, { document: PendingDocument; indexes: Index[] }>()
  for (const index of indexes) {
    for (const document of await listPendingDocuments(database, sourceId, index.id)) {
      const entry = byDocument.get(document.id) ?? { document, indexes: [] }
      entry.indexes.push(index)
      byDocument.set(document.id, entry)
    }
  }
  return [...byDocument.values()]
}

/** A document that cannot be read is marked so, and the rest goes on. */
async function parseDocument(
  { database, originals, parserPool: reading }: ParseDependencies,
  document: PendingDocument,
  indexes: Index[],
  signal: AbortSignal,
): Promise<ParseResult | undefined> {
  try {
    const bytes = await originals.read(document.content_hash)
    const settings = indexes.map(({ chunk_size, chunk_overlap }) => ({ size: chunk_size, overlap: chunk_overlap }))
    const { document: about, passages: chunks } = await reading.readAndChunk(bytes, document.name, settings, signal)
    return { document, pages: about.pages, passages: new Map(indexes.map((index, at) => [index, chunks[at] ?? []])) }
  } catch (error) {
    signal.throwIfAborted()
    const gone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!(error instanceof DocumentReadError) && !gone) throw error
    await markFailed(database, document, gone ? 'Its original is no longer on disk; send it again.' : (error as Error).message)
    return undefined
  }
}

function toRow(documentId: string, { content, start, end, page, headings, position, words }: Passage): PassageRow {
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
