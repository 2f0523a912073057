/** Joins what was found by words with what was found by meaning. */

export interface RankedPassage {
  id: string
  score: number
  semanticRank: number | null
  fullTextRank: number | null
}

/**
 * Both sides are stretched to 0…1 and added, at equal weight where the embedding model knows the language of the query
 * (`trust` 1), and by words alone where it knows nothing of it (0). bench/retrieval measures it beside each side alone and
 * reciprocal rank fusion.
 */
export function fuseRankings(semantic: Map<string, number>, fullText: Map<string, number>, trust = 1): RankedPassage[] {
  const meaning = trust / 2
  const bySemantic = normalizeScores(semantic)
  const byWords = normalizeScores(fullText)
  const semanticRanks = computeRanks(semantic)
  const wordRanks = computeRanks(fullText)
  const fused = [...new Set([...semantic.keys(), ...fullText.keys()])].map((id) => ({
    id,
    score: meaning * (bySemantic.get(id) ?? 0) + (1 - meaning) * (byWords.get(id) ?? 0),
    semanticRank: semanticRanks.get(id) ?? null,
    fullTextRank: wordRanks.get(id) ?? null,
  }))
  return fused.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

function normalizeScores(scores: Map<string, number>): Map<string, number> {
  const values = [...scores.values()]
  const most = Math.max(...values)
  const least = Math.min(...values)
  const range = most - least
  return new Map([...scores].map(([id, score]) => [id, range === 0 ? 1 : (score - least) / range]))
}

function computeRanks(scores: Map<string, number>): Map<string, number> {
  return new Map([...scores.keys()].map((id, at) => [id, at + 1]))
}
