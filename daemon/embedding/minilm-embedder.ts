/** The embedded embedding model (all-MiniLM-L6-v2, quantized to int8) as an embedder. */
import type { EmbeddedModels } from '../inference/embedded-models.ts'
import type { Embedder, EmbedOptions } from './embedder.ts'

export const MINILM = 'minilm'

const DIMENSIONS = 384
/** Workers finish a call at different times, which matters little with this many texts. */
const TEXTS_PER_WORKER = 16

export class MinilmEmbedder implements Embedder {
  readonly id = MINILM
  readonly batchSize: number
  readonly #models: EmbeddedModels

  constructor(models: EmbeddedModels) {
    this.batchSize = models.workers * TEXTS_PER_WORKER
    this.#models = models
  }

  async getDimensions(): Promise<number> {
    return DIMENSIONS
  }

  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]> {
    return this.#models.embed(texts, options)
  }
}
