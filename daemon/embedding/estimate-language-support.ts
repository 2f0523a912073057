/** How far an embedding model knows the language of a text, as far as its script tells. */
import type { Embedder } from './embedder.ts'
import { MINILM } from './minilm-embedder.ts'

/** MiniLM read English: of other scripts it knows little more than single letters. Models of providers are taken to know what they are given. */
export function estimateLanguageSupport({ id }: Pick<Embedder, 'id'>, text: string): number {
  if (id !== MINILM) return 1
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return letters === 0 ? 1 : latin / letters
}
