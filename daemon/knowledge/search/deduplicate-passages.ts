/** Passages of one document that say nearly the same are shown once. */

export interface PassageSpan {
  documentId: string
  start: number
  end: number
  content: string
}

/** Share of words two passages must have in common to count as one. */
const MIN_WORD_SIMILARITY = 0.9

export function deduplicatePassages<T>(items: readonly T[], spanOf: (item: T) => PassageSpan): T[] {
  const kept: { item: T; span: PassageSpan; words: Set<string> }[] = []
  for (const item of items) {
    const span = spanOf(item)
    const words = new Set(span.content.toLowerCase().split(/\s+/))
    const seen = kept.some(
      (other) =>
        other.span.documentId === span.documentId &&
        (computeOverlap(other.span, span) > 0.5 || computeWordSimilarity(other.words, words) >= MIN_WORD_SIMILARITY),
    )
    if (!seen) kept.push({ item, span, words })
  }
  return kept.map(({ item }) => item)
}

function computeOverlap(a: PassageSpan, b: PassageSpan): number {
  const shared = Math.min(a.end, b.end) - Math.max(a.start, b.start)
  return Math.max(0, shared) / Math.max(1, Math.min(a.end - a.start, b.end - b.start))
}

function computeWordSimilarity(a: Set<string>, b: Set<string>): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
