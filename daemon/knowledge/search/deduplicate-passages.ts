/** Drops passages that nearly repeat another passage of the same document. */
import type { PassageRow } from '../../store/arrow.ts'

const MAX_OVERLAP = 0.5
/** Jaccard similarity of the words of two passages. */
const MIN_WORD_SIMILARITY = 0.9

export function deduplicatePassages<T extends { row: PassageRow }>(candidates: readonly T[]): T[] {
  const kept: { candidate: T; words: Set<string> }[] = []
  for (const candidate of candidates) {
    const { row } = candidate
    const words = new Set((row.content as string).toLowerCase().split(/\s+/))
    const isDuplicate = kept.some(({ candidate: other, words: otherWords }) => {
      if (other.row.document_id !== row.document_id) return false
      return computeOverlap(other.row, row) > MAX_OVERLAP || computeWordSimilarity(otherWords, words) >= MIN_WORD_SIMILARITY
    })
    if (!isDuplicate) kept.push({ candidate, words })
  }
  return kept.map(({ candidate }) => candidate)
}

/** Returns the shared part as a fraction of the shorter passage. */
function computeOverlap(a: PassageRow, b: PassageRow): number {
  const [aStart, aEnd, bStart, bEnd] = [a.start_at, a.end_at, b.start_at, b.end_at] as [number, number, number, number]
  const shared = Math.min(aEnd, bEnd) - Math.max(aStart, bStart)
  return Math.max(0, shared) / Math.max(1, Math.min(aEnd - aStart, bEnd - bStart))
}

function computeWordSimilarity(a: Set<string>, b: Set<string>): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared / (a.size + b.size - shared)
}
