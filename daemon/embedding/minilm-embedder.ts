/** The embedded embedding model (all-MiniLM-L6-v2, quantized to int8) as an embedder. */
import type { EmbeddedModels } from '../inference/embedded-models.ts'
import type { Embedder } from './embedder.ts'

export const MINILM = 'minilm'

const DIMENSIONS = 384
/** Workers finish a call at different times, which matters little with this many texts. */
const TEXTS_PER_WORKER = 16

export const createMinilmEmbedder = (models: EmbeddedModels): Embedder => ({
  id: MINILM,
  batchSize: models.workers * TEXTS_PER_WORKER,
  getDimensions: async () => DIMENSIONS,
  embed: (texts, options) => models.embed(texts, options),
})
