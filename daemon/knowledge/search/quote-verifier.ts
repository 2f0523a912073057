/** Checks whether documents still contain the text that was quoted from them. */
import type { DatabaseReader } from '../../store/database.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import type { ChangedFiles } from './changed-files.ts'
import { getCurrentDocuments } from './search-store.ts'

export interface Quote {
  documentId: string
  content: string
  /** Content hash of the document when it was quoted. */
  contentHash: string | undefined
}

const MAX_CACHED_RESULTS = 2_000

export class QuoteVerifier {
  readonly #indexes: IndexRegistry
  readonly #changedFiles: ChangedFiles
  readonly #cache = new Map<string, boolean>()

  constructor(indexes: IndexRegistry, changedFiles: ChangedFiles) {
    this.#indexes = indexes
    this.#changedFiles = changedFiles
  }

  /** Returns for each quote whether its document still contains it, as far as the index and the time of its file tell. */
  async verify(reader: DatabaseReader, quotes: readonly Quote[]): Promise<boolean[]> {
    const ids = [...new Set(quotes.map(({ documentId }) => documentId))]
    const documents = await getCurrentDocuments(reader, ids)
    const changed = await this.#changedFiles.find(reader, ids)
    const texts = new Map<string, Promise<string>>()
    return Promise.all(
      quotes.map(async ({ documentId, content, contentHash }) => {
        const document = documents.get(documentId)
        if (!document || changed.has(documentId)) return false
        if (document.content_hash === contentHash) return true
        const { index_id, held_hash } = document
        if (index_id === null) return false
        const key = JSON.stringify([documentId, held_hash, content])
        const cached = this.#cache.get(key)
        if (cached !== undefined) return cached
        if (!texts.has(documentId)) texts.set(documentId, this.#loadText(index_id, documentId))
        return this.#cacheResult(key, ((await texts.get(documentId)) ?? '').includes(normalizeWhitespace(content)))
      }),
    )
  }

  /** Rebuilds the text of a document from its passages, which may overlap. */
  async #loadText(indexId: string, documentId: string): Promise<string> {
    const rows = await this.#indexes.getTextTable({ id: indexId }).list({ document_id: documentId }, ['start_at', 'end_at', 'content'])
    let [text, end] = ['', 0]
    for (const row of rows.sort((a, b) => (a.start_at as number) - (b.start_at as number))) {
      const [start, next] = [row.start_at as number, row.end_at as number]
      if (next <= end) continue
      text += start >= end ? ` ${row.content}` : (row.content as string).slice(end - start)
      end = next
    }
    return normalizeWhitespace(text)
  }

  #cacheResult(key: string, isPresent: boolean): boolean {
    this.#cache.set(key, isPresent)
    if (this.#cache.size > MAX_CACHED_RESULTS) this.#cache.delete(this.#cache.keys().next().value as string)
    return isPresent
  }
}

const normalizeWhitespace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
