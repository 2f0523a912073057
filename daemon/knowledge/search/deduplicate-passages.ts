/** Drops passages that nearly repeat another passage of the same document. */
import type { PassageRow } from '../../store/arrow.ts'

const MAX_OVERLAP = 0.5
/** Jaccard similarity of the words of two passages. */
const MIN_WORD_SIMILARITY = 0.9

export function deduplicatePassages<T extends { row: PassageRow }>(candidates: readonly T[]): T[] {
  const kept: T[] = []
  // Listed only if needed: most passages are the only one of their document.
  const words = new Map<PassageRow, Set<string>>()
  const getWords = (row: PassageRow) => {
    const found = words.get(row) ?? new Set((row.content as string).toLowerCase().split(/\s+/))
    words.set(row, found)
    return found
  }
  for (const candidate of candidates) {
    const { row } = candidate
    const isDuplicate = kept.some(({ row: other }) => {
      if (other.document_id !== row.document_id) return false
      return computeOverlap(other, row) > MAX_OVERLAP || computeWordSimilarity(getWords(other), getWords(row)) >= MIN_WORD_SIMILARITY
    })
    if (!isDuplicate) kept.push(candidate)
  }
  return kept
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
