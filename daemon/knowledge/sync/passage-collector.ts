/** Collects the passages of a document while it is read. Those of a large document are written to the index at once. */
import type { Semaphore } from '../../async/semaphore.ts'
import { joinHeadings } from '../../core/headings.ts'
import { freeMemory } from '../../process/free-memory.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Passage } from '../chunking/chunk-document.ts'
import type { Index } from '../passage-indexes/index-store.ts'
import { formatPassageId } from '../passage-indexes/passage-id.ts'
import type { IndexBatch, IndexWriter } from './index-writer.ts'
import type { DocumentSummary } from './parser-task.ts'
import { type IndexedText, markParsed, type PendingDocument } from './sync-store.ts'

/** More passages than most books have. */
const MAX_COLLECTED_PASSAGES = 2_500

export class PassageCollector {
  readonly #writer: IndexWriter
  readonly #writing: Semaphore
  readonly #document: PendingDocument
  /** Rows of a document that is not large. */
  readonly rows: Map<Index, PassageRow[]>
  readonly #counts: number[]
  readonly #indexes: readonly Index[]
  #batches: Map<Index, IndexBatch> | undefined
  #endWriting = () => {}
  #adding: Promise<void> = Promise.resolve()

  /** `writing` has one permit, because an index can have one open batch. */
  constructor(writer: IndexWriter, writing: Semaphore, document: PendingDocument, indexes: readonly Index[]) {
    this.#writer = writer
    this.#writing = writing
    this.#document = document
    this.#indexes = indexes
    this.#counts = indexes.map(() => 0)
    this.rows = new Map(indexes.map((index) => [index, []]))
  }

  add(setting: number, passages: readonly Passage[]): Promise<void> {
    this.#adding = this.#add(setting, passages)
    return this.#adding
  }

  async #add(setting: number, passages: readonly Passage[]): Promise<void> {
    const index = this.#indexes[setting] as Index
    const rows = passages.map((passage) => toRow(this.#document.id, passage))
    this.#counts[setting] = (this.#counts[setting] ?? 0) + rows.length
    if (!this.#batches && this.#counts.reduce((sum, count) => sum + count, 0) > MAX_COLLECTED_PASSAGES) await this.#openBatches()
    if (this.#batches) await this.#batches.get(index)?.add(rows)
    else this.rows.get(index)?.push(...rows)
  }

  /** Completes a large document. Returns what is stored with its passages. */
  async finish(summary: DocumentSummary): Promise<IndexedText> {
    const { id, content_hash } = this.#document
    const text = { documentId: id, contentHash: content_hash, ...summary, passages: this.#counts[0] ?? 0 }
    for (const batch of this.#batches?.values() ?? []) await batch.finish((transaction) => markParsed(transaction, [text]))
    if (this.#batches) freeMemory() // the buffers of what was written, before the full-text index is built
    this.#endWriting()
    return text
  }

  /** Forgets the passages of a document that is read again from its start. */
  async restart(): Promise<void> {
    await this.discard()
    this.#batches = undefined
    this.#counts.fill(0)
    for (const index of this.#indexes) this.rows.set(index, [])
  }

  /** Removes what was written of a document that could not be read to its end. */
  async discard(): Promise<void> {
    // A cancelled sync does not wait for the rows that are being written.
    await this.#adding.catch(() => undefined)
    try {
      for (const batch of this.#batches?.values() ?? []) await batch.discard()
    } finally {
      this.#endWriting()
    }
  }

  async #openBatches(): Promise<void> {
    this.#endWriting = await this.#writing.acquire()
    const documents = [{ documentId: this.#document.id, contentHash: this.#document.content_hash }]
    this.#batches = new Map(this.#indexes.map((index) => [index, this.#writer.open(index, 'text', documents)]))
    for (const [index, batch] of this.#batches) await batch.add(this.rows.get(index)?.splice(0) ?? [])
    this.rows.clear()
  }
}

function toRow(documentId: string, { start, end, headings, ...passage }: Passage): PassageRow {
  return {
    id: formatPassageId(documentId, passage.position),
    document_id: documentId,
    start_at: start,
    end_at: end,
    headings: joinHeadings(headings),
    ...passage,
  }
}
