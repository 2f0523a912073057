/** Estimates how well an embedding model supports the language of a text. */
import { computeLatinShare } from '../language/compute-latin-share.ts'
import type { Embedder } from './embedder.ts'
import { MINILM } from './minilm-embedder.ts'

/**
 * Returns 0 to 1. MiniLM was trained on English and represents other scripts letter by letter, so the result is the share
 * of Latin letters. Models of providers are assumed to support every language.
 */
export function estimateLanguageSupport({ id }: Pick<Embedder, 'id'>, text: string): number {
  return id === MINILM ? computeLatinShare(text) : 1
}
