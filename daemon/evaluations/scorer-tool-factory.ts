/** What scorers need besides the answer: patterns, meanings and judges. */
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { CallOrigin } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import type { ModelsService } from '../models/service.ts'
import { PatternMatcher } from './pattern-matcher.ts'
import type { ScorerTools } from './score-answer.ts'

export class ScorerToolFactory {
  readonly #matcher = new PatternMatcher()
  readonly #embedding: EmbeddingService
  readonly #models: ModelsService

  constructor(embedding: EmbeddingService, models: ModelsService) {
    this.#embedding = embedding
    this.#models = models
  }

  /** Tools for one run: what judges take is counted as the evaluation's. */
  createTools(origin: CallOrigin, turn: Acquire, signal: AbortSignal): ScorerTools {
    return {
      matchPattern: this.#matcher.createRunMatcher(signal),
      computeSimilarity: (a, b) => this.#computeSimilarity(a, b, signal),
      askModel: async (modelId: string | null, messages: readonly ChatMessage[]) =>
        (await this.#models.generate({ modelId, messages, temperature: 0, origin, turn, signal })).text,
    }
  }

  async close(): Promise<void> {
    await this.#matcher.close()
  }

  async #computeSimilarity(a: string, b: string, signal: AbortSignal): Promise<number> {
    if (a.trim() === '' || b.trim() === '') return Number(a.trim() === b.trim())
    const embedder = await this.#embedding.getEmbedder(DEFAULT_EMBEDDING_MODEL)
    const [one, other] = (await embedder.embed([a, b], { signal })) as [Float32Array, Float32Array]
    const cosine = one.reduce((sum, value, at) => sum + value * (other[at] as number), 0)
    return Number(cosine.toFixed(6)) // vectors are single precision: the same text twice is 0.99999995
  }
}
