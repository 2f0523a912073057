/** Scores the sources of an answer: citations and retrieved passages. */
import type { Score } from './score-json.ts'

interface SourceReference {
  source: string
  document_id?: string | undefined
}

/** Returns the share of the expected documents that the answer cites. */
export function scoreCitations(expected: readonly string[], cited: readonly SourceReference[]): Score {
  const missing = expected.filter((name) => !cited.some((source) => matchesSource(name, source)))
  if (missing.length === 0) return { score: 1 }
  return { score: (expected.length - missing.length) / expected.length, reason: `Not cited: ${missing.slice(0, 5).join(', ')}.` }
}

interface RetrievalScore {
  hit: number
  reciprocal_rank: number
  /** Position of the first expected document, counted from 1; null if there is none. */
  rank: number | null
}

/** Scores the rank of the first expected document among the first k passages. */
export function scoreRetrieval(expected: readonly string[], found: readonly SourceReference[], k = found.length): RetrievalScore {
  const index = found.slice(0, k).findIndex((source) => expected.some((name) => matchesSource(name, source)))
  return index < 0 ? { hit: 0, reciprocal_rank: 0, rank: null } : { hit: 1, reciprocal_rank: 1 / (index + 1), rank: index + 1 }
}

/** Matches the id, the name, or the end of a path: "leave.md" matches "handbook/leave.md". */
function matchesSource(name: string, { source, document_id }: SourceReference): boolean {
  return name === document_id || name === source || source.endsWith(`/${name}`)
}
