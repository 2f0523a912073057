/** Whether documents still say what was once quoted from them. */
import type { Reader } from '../../store/database.ts'
import type { Indexes } from '../indexes/indexes.ts'
import { currentDocuments } from './search-store.ts'

export interface Quotation {
  documentId: string
  content: string
  /** Of the document when it was quoted. */
  contentHash: string | undefined
}

/** Answers are remembered: a conversation is read more often than its documents change. */
const MOST_REMEMBERED = 2_000

export class Quotations {
  readonly #indexes: Indexes
  readonly #remembered = new Map<string, boolean>()

  constructor(indexes: Indexes) {
    this.#indexes = indexes
  }

  /** For each quotation, whether its document is there and still holds it. */
  async stand(reader: Reader, quotations: readonly Quotation[]): Promise<boolean[]> {
    const documents = await currentDocuments(reader, [...new Set(quotations.map(({ documentId }) => documentId))])
    const texts = new Map<string, Promise<string>>()
    return Promise.all(
      quotations.map(async ({ documentId, content, contentHash }) => {
        const document = documents.get(documentId)
        if (!document) return false
        if (document.content_hash === contentHash) return true
        const { index_id, held_hash } = document
        if (index_id === null) return false
        const key = JSON.stringify([documentId, held_hash, content])
        const known = this.#remembered.get(key)
        if (known !== undefined) return known
        if (!texts.has(documentId)) texts.set(documentId, this.#text(index_id, documentId))
        return this.#remember(key, ((await texts.get(documentId)) ?? '').includes(squeezed(content)))
      }),
    )
  }

  /** The document's text, put together from its passages by their places in it. */
  async #text(indexId: string, documentId: string): Promise<string> {
    const rows = await this.#indexes.text({ id: indexId }).where({ document_id: documentId }, ['start_at', 'end_at', 'content'])
    let [text, end] = ['', 0]
    for (const row of rows.sort((a, b) => (a.start_at as number) - (b.start_at as number))) {
      const [start, next] = [row.start_at as number, row.end_at as number]
      if (next <= end) continue
      text += start >= end ? ` ${row.content}` : (row.content as string).slice(end - start)
      end = next
    }
    return squeezed(text)
  }

  #remember(key: string, answer: boolean): boolean {
    this.#remembered.set(key, answer)
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value as string)
    return answer
  }
}

/** White space is where documents differ without saying anything else. */
const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
