/** Combines the scores of full-text and semantic search. */

export interface RankedPassage {
  id: string
  score: number
  semanticRank: number | null
  fullTextRank: number | null
}

/**
 * Normalizes both scores to 0…1 and adds them: with equal weight if the embedding model supports the language of the query
 * (`trust` 1), down to full-text scores alone if it does not (0). bench/retrieval compares this with each method alone and
 * with reciprocal rank fusion.
 */
export function fuseRankings(semantic: Map<string, number>, fullText: Map<string, number>, trust = 1): RankedPassage[] {
  const semanticWeight = trust / 2
  const semanticScores = normalizeScores(semantic)
  const fullTextScores = normalizeScores(fullText)
  const semanticRanks = computeRanks(semantic)
  const fullTextRanks = computeRanks(fullText)
  const fused = [...new Set([...semantic.keys(), ...fullText.keys()])].map((id) => ({
    id,
    score: semanticWeight * (semanticScores.get(id) ?? 0) + (1 - semanticWeight) * (fullTextScores.get(id) ?? 0),
    semanticRank: semanticRanks.get(id) ?? null,
    fullTextRank: fullTextRanks.get(id) ?? null,
  }))
  return fused.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

function normalizeScores(scores: Map<string, number>): Map<string, number> {
  const values = [...scores.values()]
  const min = Math.min(...values)
  const range = Math.max(...values) - min
  return new Map([...scores].map(([id, score]) => [id, range === 0 ? 1 : (score - min) / range]))
}

function computeRanks(scores: Map<string, number>): Map<string, number> {
  return new Map([...scores.keys()].map((id, index) => [id, index + 1]))
}
