/** Tells passages that fit a query from those that are only the nearest there are. */
import { DEFAULT_EMBEDDING_MODEL } from '../../../src/contract/schemas/passages.ts'

/** What one index said of a query. */
export interface IndexHits {
  embeddingModel: string
  /** Similarity of meaning, by passage. */
  semantic: ReadonlyMap<string, number>
  fullText: ReadonlyMap<string, unknown>
  /** How far the embedding model knows the language of the query. */
  trust: number
}

/** Over Cadre's documentation 14 of 16 foreign queries stay below it, and 20 of 22 that are about it reach it. */
const MIN_SIMILARITY = 0.25
const MIN_TRUST = 0.5

/** No word of the query is in the passage, and its meaning is far away. How far that is, is known of our own model only: each has a scale of its own. */
export function isLoose(sides: readonly IndexHits[], id: string): boolean {
  return sides.some(({ embeddingModel, semantic, fullText, trust }) => {
    const similarity = semantic.get(id)
    if (similarity === undefined || fullText.has(id) || embeddingModel !== DEFAULT_EMBEDDING_MODEL) return false
    return trust < MIN_TRUST || similarity < MIN_SIMILARITY
  })
}
