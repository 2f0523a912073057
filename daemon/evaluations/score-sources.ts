/** Scores of where an answer comes from: what it cites, and what was found for it. */

export interface KnownSource {
  source: string
  document_id?: string | undefined
}

/** The share of the expected documents that the answer cites. */
export function citationScore(expected: readonly string[], cited: readonly KnownSource[]): { score: number; reason?: string } {
  const missing = expected.filter((name) => !cited.some((one) => isIt(name, one)))
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
export function retrievalScore(expected: readonly string[], found: readonly KnownSource[], k = found.length): RetrievalScore {
  const at = found.slice(0, k).findIndex((one) => expected.some((name) => isIt(name, one)))
  return at < 0 ? { hit: 0, reciprocal_rank: 0, rank: null } : { hit: 1, reciprocal_rank: 1 / (at + 1), rank: at + 1 }
}

/** By id, by whole name, or by the end of a path: people write "leave.md" for "handbook/leave.md". */
function isIt(name: string, { source, document_id }: KnownSource): boolean {
  return name === document_id || name === source || source.endsWith(`/${name}`)
}
