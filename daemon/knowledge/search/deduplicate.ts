/** Passages of one document that say nearly the same are shown once. */

export interface Span {
  documentId: string
  start: number
  end: number
  content: string
}

/** Share of words two passages must have in common to count as one. */
const ALIKE = 0.9

export function withoutDuplicates<T>(items: readonly T[], spanOf: (item: T) => Span): T[] {
  const kept: { item: T; span: Span; words: Set<string> }[] = []
  for (const item of items) {
    const span = spanOf(item)
    const words = new Set(span.content.toLowerCase().split(/\s+/))
    const seen = kept.some(
      (other) => other.span.documentId === span.documentId && (overlap(other.span, span) > 0.5 || alike(other.words, words) >= ALIKE),
    )
    if (!seen) kept.push({ item, span, words })
  }
  return kept.map(({ item }) => item)
}

function overlap(a: Span, b: Span): number {
  const shared = Math.min(a.end, b.end) - Math.max(a.start, b.start)
  return Math.max(0, shared) / Math.max(1, Math.min(a.end - a.start, b.end - b.start))
}

function alike(a: Set<string>, b: Set<string>): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
