/** Creates the services that scorers use: pattern matching, similarity and judge models. */
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { CallOrigin } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import type { ModelsService } from '../models/service.ts'
import { PatternMatcher } from './patterns/pattern-matcher.ts'
import type { ScorerTools } from './scorers.ts'

export class ScorerToolFactory {
  readonly #matcher = new PatternMatcher()
  readonly #embedding: EmbeddingService
  readonly #models: ModelsService

  constructor(embedding: EmbeddingService, models: ModelsService) {
    this.#embedding = embedding
    this.#models = models
  }

  /** Judge calls of the run are attributed to the origin. */
  createTools(origin: CallOrigin, acquire: Acquire, signal: AbortSignal): ScorerTools {
    return {
      matchPattern: this.#matcher.createRunMatcher(signal),
      computeSimilarity: (a, b) => this.#computeSimilarity(a, b, signal),
      askModel: async (modelId: string | null, messages: readonly ChatMessage[]) =>
        (await this.#models.generate({ modelId, messages, temperature: 0, origin, turn: acquire, signal })).text,
    }
  }

  async close(): Promise<void> {
    await this.#matcher.close()
  }

  async #computeSimilarity(a: string, b: string, signal: AbortSignal): Promise<number> {
    if (a.trim() === '' || b.trim() === '') return Number(a.trim() === b.trim())
    const embedder = await this.#embedding.getEmbedder(DEFAULT_EMBEDDING_MODEL)
    const [first, second] = (await embedder.embed([a, b], { signal })) as [Float32Array, Float32Array]
    const cosine = first.reduce((sum, value, index) => sum + value * (second[index] as number), 0)
    return Number(cosine.toFixed(6)) // single precision: identical texts yield 0.99999995
  }
}
