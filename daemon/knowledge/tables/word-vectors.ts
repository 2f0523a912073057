/** Chooses the meaning of unclear words with the embedding model. The vectors of names are kept, because questions repeat them. */
import { chooseMeanings, type Meaning } from '../../tables/similarity/choose-meanings.ts'
import type { UnclearPhrase } from '../../tables/similarity/unclear-words.ts'

export type EmbedTexts = (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[]>

/** About 3 MB. */
const MAX_VECTORS = 2_000
/** The question is answered without the meaning of these words then. */
const MAX_WAIT_MS = 10_000

export class WordVectors {
  readonly #embed: EmbedTexts
  readonly #vectors = new Map<string, Float32Array>()

  constructor(embed: EmbedTexts) {
    this.#embed = embed
  }

  async chooseMeanings(unclear: readonly UnclearPhrase[], signal?: AbortSignal): Promise<Meaning[]> {
    const texts = [...new Set(unclear.flatMap(({ phrase, names }) => [phrase, ...names]))]
    const known = new Map(texts.flatMap((text) => (this.#vectors.has(text) ? [[text, this.#vectors.get(text) as Float32Array]] : [])))
    const missing = texts.filter((text) => !known.has(text))
    const timeout = AbortSignal.timeout(MAX_WAIT_MS)
    const vectors = await this.#embed(missing, signal ? AbortSignal.any([signal, timeout]) : timeout)
    if (this.#vectors.size + missing.length > MAX_VECTORS) this.#vectors.clear()
    for (const [index, text] of missing.entries()) {
      known.set(text, vectors[index] as Float32Array)
      this.#vectors.set(text, vectors[index] as Float32Array)
    }
    return chooseMeanings(unclear, known)
  }
}
