/** Combines the scores of full-text and semantic search. */
import { extractContentWords, isEnglish } from '../../language/content-words.ts'

export interface RankedPassage {
  id: string
  score: number
  semanticRank: number | null
  fullTextRank: number | null
}

/** Weight of semantic scores: the least if a passage has the words of the query, the most if it is worded unlike all passages. */
const SEMANTIC_WEIGHT = { least: 0.55, most: 0.85 }
/** Of queries that are not English, the language of the embedded model. */
const OTHER_LANGUAGE_WEIGHT = 0.5
/** The score per word of the query at which the best full-text hit counts as having its words. */
const STRONG_SCORE = 3.5

/**
 * Normalizes both scores to 0…1 and adds them. `trust` says how far the embedding model supports the language of the query: with 0, only
 * full-text scores count. bench/retrieval compares this with each method alone and with reciprocal rank fusion.
 */
export function fuseRankings(query: string, semantic: Map<string, number>, fullText: Map<string, number>, trust = 1): RankedPassage[] {
  const semanticWeight = trust * (isEnglish(query) ? weightSemantic(query, fullText) : OTHER_LANGUAGE_WEIGHT)
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

function weightSemantic(query: string, fullText: Map<string, number>): number {
  const words = new Set(extractContentWords(query))
  const scoreOfWord = Math.max(0, ...fullText.values()) / Math.max(1, words.size)
  const { least, most } = SEMANTIC_WEIGHT
  return most - (most - least) * Math.min(1, scoreOfWord / STRONG_SCORE)
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
