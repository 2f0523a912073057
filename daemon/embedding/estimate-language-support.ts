/** Estimates how well an embedding model supports the language of a text. */
import type { Embedder } from './embedder.ts'
import { MINILM } from './minilm-embedder.ts'

/**
 * Returns 0 to 1. MiniLM was trained on English and represents other scripts letter by letter, so the result is the share
 * of Latin letters. Models of providers are assumed to support every language.
 */
export function estimateLanguageSupport({ id }: Pick<Embedder, 'id'>, text: string): number {
  if (id !== MINILM) return 1
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return letters === 0 ? 1 : latin / letters
}
