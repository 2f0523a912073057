/** Marks citations whose documents no longer contain the quoted text. */
import type { Citation } from '../../../src/contract/schemas/messages.ts'
import type { DatabaseReader } from '../../store/database.ts'
import type { StoredMessage } from '../store.ts'

export interface QuoteVerifier {
  /** Returns for each quote whether its document still contains it. */
  verifyQuotes(
    reader: DatabaseReader,
    quotes: readonly { documentId: string; content: string; contentHash: string | undefined }[],
  ): Promise<boolean[]>
}

export async function markStaleCitations(
  reader: DatabaseReader,
  quoteVerifier: QuoteVerifier,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const citations = messages.flatMap(({ citations = [] }) => citations)
  if (citations.length === 0) return [...messages]
  const results = await quoteVerifier.verifyQuotes(
    reader,
    citations.map(({ document_id, content, content_hash }) => ({ documentId: document_id, content, contentHash: content_hash })),
  )
  const stale = new Set(citations.filter((_, index) => !results[index]))
  // A file that had changed when it was cited may have been indexed since.
  const mark = ({ stale: _, ...citation }: Citation, isStale: boolean) => (isStale ? { ...citation, stale: true } : citation)
  return messages.map((message) =>
    message.citations ? { ...message, citations: message.citations.map((citation) => mark(citation, stale.has(citation))) } : message,
  )
}
