/** Scores of where an answer comes from: what it cites, and what was found for it. */

export interface SourceReference {
  source: string
  document_id?: string | undefined
}

/** The share of the expected documents that the answer cites. */
export function scoreCitations(expected: readonly string[], cited: readonly SourceReference[]): { score: number; reason?: string } {
  const missing = expected.filter((name) => !cited.some((one) => matchesSource(name, one)))
  if (missing.length === 0) return { score: 1 }
  return { score: (expected.length - missing.length) / expected.length, reason: `Not cited: ${missing.slice(0, 5).join(', ')}.` }
}

export interface RetrievalScore {
  hit: number
  reciprocal_rank: number
  /** Place of the first expected document, from 1; null where none is there. */
  rank: number | null
}

/** Whether, and how early, an expected document is among the passages that were found. */
export function scoreRetrieval(expected: readonly string[], found: readonly SourceReference[], k = found.length): RetrievalScore {
  const at = found.slice(0, k).findIndex((one) => expected.some((name) => matchesSource(name, one)))
  return at < 0 ? { hit: 0, reciprocal_rank: 0, rank: null } : { hit: 1, reciprocal_rank: 1 / (at + 1), rank: at + 1 }
}

/** By id, by whole name, or by the end of a path: people write "leave.md" for "handbook/leave.md". */
function matchesSource(name: string, { source, document_id }: SourceReference): boolean {
  return name === document_id || name === source || source.endsWith(`/${name}`)
}
