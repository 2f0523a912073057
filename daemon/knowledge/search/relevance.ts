/** Distinguishes relevant passages from those that are only the nearest ones. */
import { DEFAULT_EMBEDDING_MODEL } from '../../../src/contract/schemas/passages.ts'
import type { Index } from '../passage-indexes/index-store.ts'

/** Hits of one index for a query. */
export interface IndexHits {
  index: Index
  /** Cosine similarity by passage id. */
  semantic: Map<string, number>
  /** BM25 score by passage id. */
  fullText: Map<string, number>
  /** How well the embedding model supports the language of the query, from 0 to 1. */
  trust: number
}

/** On Cadre's documentation, 14 of 16 unrelated queries stay below it and 20 of 22 related queries reach it. */
const MIN_SIMILARITY = 0.25
const MIN_TRUST = 0.5

/**
 * Whether a passage contains no word of the query and has a low similarity. Only known for the embedded model: each model
 * has its own scale of similarity.
 */
export function isLoose(hits: readonly IndexHits[], id: string): boolean {
  return hits.some(({ index, semantic, fullText, trust }) => {
    const similarity = semantic.get(id)
    if (similarity === undefined || fullText.has(id) || index.embedding_model !== DEFAULT_EMBEDDING_MODEL) return false
    return trust < MIN_TRUST || similarity < MIN_SIMILARITY
  })
}
