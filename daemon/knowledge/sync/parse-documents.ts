/** Second stage of a sync: reads and chunks documents and writes their passages to the full-text tables. */
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { Semaphore } from '../../async/semaphore.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import { DamagedOriginalError, isOriginalError, type OriginalStore } from '../../store/original-store.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import type { Index } from '../passage-indexes/index-store.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import { hasRecognizedPages, listRecognizedPages, markRecognizing, resetRecognition } from '../recognition/recognition-store.ts'
import type { Recognition } from '../recognition/recognized-page.ts'
import type { StoredSource } from '../store.ts'
import type { DocumentRows, IndexWriter } from './index-writer.ts'
import type { ParserPool } from './parser-pool.ts'
import type { OnPassages } from './parser-task.ts'
import { PassageCollector } from './passage-collector.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import {
  forgetFingerprint,
  type IndexedText,
  listPendingDocuments,
  listStaleDocuments,
  markParsed,
  markParsing,
  markWithoutText,
  type PendingDocument,
} from './sync-store.ts'

/** A commit costs the same for one row as for thousands. */
const ROWS_PER_COMMIT = 2_000
/** Enough that the processes need not wait while the daemon reads originals. */
const MAX_CONCURRENT_PARSES = 8

export interface ParseDependencies {
  database: Database
  originals: OriginalStore
  parserPool: ParserPool
  indexes: IndexRegistry
  writer: IndexWriter
  progress: ProgressTracker
}

interface ParseTask {
  document: PendingDocument
  /** Indexes that lack the document. */
  indexes: Index[]
}

interface ParseResult {
  text: IndexedText
  /** Rows that are not written yet; empty for a large document. */
  rows: Map<Index, PassageRow[]>
}

export async function parseDocuments(
  dependencies: ParseDependencies,
  { id: sourceId, configuration }: Pick<StoredSource, 'id' | 'configuration'>,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> {
  const { database, writer, progress, parserPool } = dependencies
  const isRecognitionEnabled = configuration.ocr !== false
  await resetRecognition(database, sourceId, isRecognitionEnabled)
  let changed = await eraseStaleDocuments(dependencies, indexes)
  const tasks = await listTasks(database, sourceId, indexes)
  if (tasks.length > 0) {
    // The processes start while LanceDB is loaded. The first commit reports why a table cannot be opened.
    parserPool.warmUp(tasks.length)
    for (const index of indexes) {
      const table = dependencies.indexes.getTextTable(index)
      table.open().catch(() => undefined)
    }
    await markParsing(database, sourceId)
  }
  progress.update(sourceId, { stage: 'reading', documents: 0, documents_total: tasks.length })
  const buffers = new Map<Index, (DocumentRows & IndexedText)[]>(indexes.map((index) => [index, []]))
  let rowCount = 0
  let documentCount = 0
  const writing = new Semaphore(1)
  const flush = async () => {
    const endWriting = await writing.acquire()
    try {
      for (const [index, buffer] of buffers) {
        const documents = buffer.splice(0)
        // One transaction: an indexed document is not read again, so its page and passage counts must be stored with it.
        await writer.write(index, 'text', documents, (transaction) => markParsed(transaction, documents))
      }
    } finally {
      endWriting()
    }
    rowCount = 0
  }
  const hasPages = await hasRecognizedPages(database)
  const parse = async (task: ParseTask) => {
    const pages = hasPages ? await listRecognizedPages(database, task.document.content_hash) : []
    return parseDocument(dependencies, task, { isEnabled: isRecognitionEnabled, pages }, writing, signal)
  }
  for await (const result of mapConcurrently(tasks, MAX_CONCURRENT_PARSES, parse)) {
    signal.throwIfAborted()
    progress.update(sourceId, { documents: ++documentCount })
    changed = true
    if (result === 'without text') continue
    progress.countChange(sourceId, result ? 'read' : 'unreadable')
    if (!result) continue
    for (const [index, rows] of result.rows) {
      buffers.get(index)?.push({ ...result.text, rows })
      rowCount += rows.length
    }
    if (rowCount >= ROWS_PER_COMMIT) await flush()
  }
  await flush()
  // Documents that failed in this pass may still be in the index.
  await eraseStaleDocuments(dependencies, indexes)
  if (changed) for (const index of indexes) await dependencies.indexes.getTextTable(index).optimize()
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

async function listTasks(database: Database, sourceId: string, indexes: readonly Index[]): Promise<ParseTask[]> {
  const tasks = new Map<string, ParseTask>()
  for (const index of indexes) {
    for (const document of await listPendingDocuments(database, sourceId, index.id)) {
      const task = tasks.get(document.id) ?? { document, indexes: [] }
      task.indexes.push(index)
      tasks.set(document.id, task)
    }
  }
  return [...tasks.values()]
}

/** Marks a document that cannot be read as failed and returns undefined. A scan waits for text recognition. */
async function parseDocument(
  { database, originals, parserPool, writer }: ParseDependencies,
  { document, indexes }: ParseTask,
  recognition: Recognition,
  writing: Semaphore,
  signal: AbortSignal,
): Promise<ParseResult | 'without text' | undefined> {
  const collector = new PassageCollector(writer, writing, document, indexes)
  try {
    const { name, size, content_hash } = document
    const input = { name, size, recognition, read: () => originals.provide(content_hash) }
    const settings = indexes.map(({ chunk_size, chunk_overlap }) => ({ size: chunk_size, overlap: chunk_overlap }))
    const onPassages: OnPassages = (setting, passages) => collector.add(setting, passages)
    const summary = await parserPool.parse(input, settings, { onPassages, onRestart: () => collector.restart() }, signal)
    const text = await collector.finish(summary)
    if (text.passages > 0) return { text, rows: collector.rows }
    if (summary.skipReason !== null) await markWithoutText(database, document, 'skipped', summary.skipReason)
    else if (summary.scans.length > 0) await markRecognizing(database, document, summary.scans.length)
    else return { text, rows: collector.rows }
    return 'without text'
  } catch (error) {
    await collector.discard()
    signal.throwIfAborted()
    if (isOriginalError(error)) {
      const problem = error instanceof DamagedOriginalError ? 'damaged: its content does not match its hash' : 'missing on disk'
      await markWithoutText(database, document, 'failed', `The original is ${problem}. Send the document again, or sync its source again.`)
      await forgetFingerprint(database, document)
      return undefined
    }
    if (!(error instanceof DocumentReadError)) throw error
    await markWithoutText(database, document, 'failed', error.message)
    return undefined
  }
}
