/** A process that reads and chunks one document at a time. */
import { limitPlaces } from '../../core/places.ts'
import { loadContent } from '../../store/original-store.ts'
import { serveJobs } from '../../workers/serve-jobs.ts'
import { generatePassages, type Passage } from '../chunking/chunk-document.ts'
import type { ExpandedDocument } from '../readers/containers/expand-container.ts'
import { limitAllocations } from '../readers/limit-allocations.ts'
import { DocumentReadError, EMPTY_DOCUMENT_MESSAGE, type ParsedDocument } from '../readers/parsed-document.ts'
import { readDocument } from '../readers/read-document.ts'
import { splitByWeight } from '../split-by-weight.ts'
import type { DocumentSummary, ParserPart, ParserResult, ParserTask, PassageBatch } from './parser-task.ts'
import { selectLines } from './select-lines.ts'

/** The daemon deserializes a message of this size in a few milliseconds. */
const MAX_MESSAGE_CHARACTERS = 500_000
const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_MESSAGE_DOCUMENTS = 64

/** Passages are created when they are requested. */
function* splitIntoBatches(lists: readonly Iterable<Passage>[]): Generator<PassageBatch> {
  for (const [setting, list] of lists.entries()) {
    let isEmpty = true
    for (const passages of splitByWeight(list, MAX_MESSAGE_CHARACTERS, ({ content, words }) => content.length + words.length)) {
      isEmpty = false
      yield { setting, passages }
    }
    // As in a document of invisible characters.
    if (isEmpty) throw new DocumentReadError(EMPTY_DOCUMENT_MESSAGE)
  }
}

function summarizeDocument({ pages, places, notice, skipReason, scans = [] }: ParsedDocument): DocumentSummary {
  const count = places?.names?.length ?? pages.length
  const number = count > 0 ? count : null
  return { pages: number, places: places ? limitPlaces(places) : null, notice: notice ?? null, skipReason: skipReason ?? null, scans }
}

/** The bytes are copied, because they may be a part of the container. */
async function* collectDocuments(expanded: AsyncIterable<ExpandedDocument>): AsyncGenerator<ExpandedDocument[]> {
  let documents: ExpandedDocument[] = []
  let size = 0
  try {
    for await (const { bytes, ...document } of expanded) {
      documents.push(bytes ? { ...document, bytes: new Uint8Array(bytes) } : document)
      size += bytes?.length ?? 0
      if (size < MAX_MESSAGE_BYTES && documents.length < MAX_MESSAGE_DOCUMENTS) continue
      yield documents
      documents = []
      size = 0
    }
  } catch (error) {
    // What was read before the damage is kept.
    if (documents.length > 0) yield documents
    throw error
  }
  if (documents.length > 0) yield documents
}

function formatFailure(error: unknown): string {
  if (error instanceof DocumentReadError) return error.message
  if (error instanceof RangeError && /call stack/.test(error.message)) return 'The document is nested too deeply to be read.'
  if (error instanceof RangeError && /Invalid string length/.test(error.message)) return 'The text of the document is too long to be read.'
  return `The document cannot be read; it may be damaged (${error instanceof Error ? error.message : String(error)}).`
}

await serveJobs<ParserTask, ParserResult, ParserPart>(() => {
  const resetAllocations = limitAllocations()
  return async (task, sendPart) => {
    resetAllocations()
    try {
      if (task.kind === 'expand') {
        const { expandContainer } = await import('../readers/containers/expand-container.ts')
        for await (const documents of collectDocuments(
          expandContainer(await loadContent(task.content), task.name, task.selection, task.earlier),
        ))
          await sendPart({ documents })
        return { kind: 'expanded' }
      }
      // The PDF library rejects Buffers.
      const { buffer, byteOffset, length } = await loadContent(task.content)
      const document = await readDocument(new Uint8Array(buffer, byteOffset, length), task.name, task.recognition)
      if (task.kind === 'read' && document.skipReason !== undefined) throw new DocumentReadError(document.skipReason)
      if (task.kind === 'read') return { kind: 'text', text: selectLines(document, task.range) }
      const summary = summarizeDocument(document)
      if (task.kind === 'summarize' || !/\S/.test(document.text)) return { kind: 'parsed', summary }
      const lists = task.settings.map((setting) => generatePassages(document, setting, task.name))
      let last: PassageBatch | undefined
      for (const batch of splitIntoBatches(lists)) {
        if (last) await sendPart(last)
        last = batch
      }
      return { kind: 'parsed', summary, last }
    } catch (error) {
      throw new Error(formatFailure(error), { cause: error })
    }
  }
})
