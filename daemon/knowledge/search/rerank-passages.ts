/** Reorders the best passages of a search by how well they answer the query according to the reading model. */
import { splitHeadings } from '../../core/headings.ts'
import type { PassageReader } from '../../inference/embedded-models.ts'
import { composeReadingText } from '../../inference/reading-text.ts'
import { computeLatinShare } from '../../language/compute-latin-share.ts'
import { isOtherLanguage } from '../../language/content-words.ts'
import type { PassageRow } from '../../store/arrow.ts'

/** Passages that are read, unless more are requested. Reading takes time, and passages further down seldom get to the top. */
export const RERANK_DEPTH = 8
/** Share of the reading model's score in that of a passage (docs/reader.md has the figures). */
const RERANK_WEIGHT = 0.3

export interface RerankCandidate {
  row: PassageRow
  /** Score of the search, from 0 to 1. */
  score: number
  /** From 0 to 1; null if the passage was not read. */
  rerankScore: number | null
}

/** Returns 0 for a query in another script, for which reranking cannot help: the reading model only knows English. */
export function computeRerankWeight(query: string): number {
  return RERANK_WEIGHT * computeLatinShare(query)
}

/** Reads all candidates and returns them with their new scores, best first. Those with the same score keep their order. */
export async function rerankPassages<T extends RerankCandidate>(
  reader: PassageReader,
  query: string,
  candidates: readonly T[],
): Promise<T[]> {
  const weight = computeRerankWeight(query)
  const texts = candidates.map(({ row }) => composeReadingText(splitHeadings(row.headings as string), row.content as string).text)
  const readings = await reader.read(query, texts)
  const reranked = candidates.map((candidate, index) => {
    // The model would rank a passage in another language than the query last.
    if (isOtherLanguage(query, candidate.row.content as string)) return candidate
    const rerankScore = toProbability(readings[index]?.relevance ?? Number.NEGATIVE_INFINITY)
    return { ...candidate, rerankScore, score: (1 - weight) * candidate.score + weight * rerankScore }
  })
  return reranked.sort((a, b) => b.score - a.score)
}

const toProbability = (logit: number): number => 1 / (1 + Math.exp(-logit))
