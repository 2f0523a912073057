/** Citations whose documents no longer say what was quoted from them are marked when they are read. */
import type { Reader } from '../../store/database.ts'
import type { StoredMessage } from '../store.ts'

/** Who knows what documents say now. */
export interface QuoteVerifier {
  /** For each quotation, whether its document is there and still holds it. */
  verifyQuotes(
    reader: Reader,
    quotations: readonly { documentId: string; content: string; contentHash: string | undefined }[],
  ): Promise<boolean[]>
}

export async function markStaleCitations(
  reader: Reader,
  library: QuoteVerifier,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const quoted = messages.flatMap(({ citations = [] }) => citations)
  if (quoted.length === 0) return [...messages]
  const standing = await library.verifyQuotes(
    reader,
    quoted.map(({ document_id, content, content_hash }) => ({ documentId: document_id, content, contentHash: content_hash })),
  )
  const stale = new Set(quoted.filter((_, at) => !standing[at]))
  if (stale.size === 0) return [...messages]
  return messages.map((message) =>
    message.citations
      ? { ...message, citations: message.citations.map((citation) => (stale.has(citation) ? { ...citation, stale: true } : citation)) }
      : message,
  )
}
