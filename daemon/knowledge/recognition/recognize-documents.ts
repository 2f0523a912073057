/** Last stage of a sync: recognises the text of images and scans, after everything else was indexed. */
import type { Database } from '../../store/database.ts'
import { isOriginalError, type OriginalStore } from '../../store/original-store.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import type { ParserPool } from '../sync/parser-pool.ts'
import type { ProgressTracker } from '../sync/progress-tracker.ts'
import { markWithoutText, type PendingDocument } from '../sync/sync-store.ts'
import type { RecognitionLanguages } from './recognition-languages.ts'
import type { PageRecognizer } from './recognition-pool.ts'
import { listDocumentsToRecognize, listRecognizedPages, markRecognized, storeRecognizedPage } from './recognition-store.ts'
import { joinLanguages, type RecognizedPage } from './recognized-page.ts'

export interface RecognitionDependencies {
  database: Database
  originals: OriginalStore
  parserPool: ParserPool
  recognizer: PageRecognizer
  languages: RecognitionLanguages
  progress: ProgressTracker
}

/** Recognised documents are indexed after each of these many. */
const DOCUMENTS_PER_BATCH = 20

/**
 * Recognises some documents, which then wait to be read again. Every page is stored, so that nothing is recognised twice.
 * @param signal ends the stage after the current page, as when another sync was requested
 * @returns false if no document is left
 */
export async function recognizeDocuments(
  { database, originals, parserPool, recognizer, languages, progress }: RecognitionDependencies,
  sourceId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const documents = await listDocumentsToRecognize(database, sourceId)
  if (documents.length === 0) return false
  const done = progress.get(sourceId)?.stage === 'recognizing' ? (progress.get(sourceId)?.documents ?? 0) : 0
  progress.update(sourceId, { stage: 'recognizing', documents: done, documents_total: done + documents.length })
  for (const [position, document] of documents.slice(0, DOCUMENTS_PER_BATCH).entries()) {
    if (signal.aborted) break
    try {
      await recognizeDocument(document)
      await markRecognized(database, document)
    } catch (error) {
      if (signal.aborted) break
      if (isOriginalError(error))
        await markWithoutText(database, document, 'failed', 'The original is missing or damaged. Sync its source again.')
      else if (error instanceof DocumentReadError) await markWithoutText(database, document, 'failed', error.message)
      else throw error
    }
    progress.update(sourceId, { documents: done + position + 1 })
  }
  return true

  async function recognizeDocument({ name, size, content_hash }: PendingDocument): Promise<void> {
    const files = await languages.listFiles()
    const key = joinLanguages(files)
    const recognition = { isEnabled: true, pages: await listRecognizedPages(database, content_hash, key) }
    const { scans } = await parserPool.summarize({ name, size, recognition, read: () => originals.provide(content_hash) }, signal)
    if (scans.length === 0) return
    const content = await originals.provide(content_hash)
    const store = (page: RecognizedPage) => storeRecognizedPage(database, content_hash, key, page)
    await recognizer.recognize({ content, pages: scans, languages: files }, store, { signal })
  }
}
