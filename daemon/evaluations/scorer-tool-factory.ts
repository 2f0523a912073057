/** What scorers need besides the answer: patterns, meanings and judges. */
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { CallOrigin } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import type { ModelsService } from '../models/service.ts'
import { Patterns } from './patterns.ts'
import type { ScoringTools } from './scoring.ts'

export class Scoring {
  readonly #patterns = new Patterns()
  readonly #embedding: EmbeddingService
  readonly #models: ModelsService

  constructor(embedding: EmbeddingService, models: ModelsService) {
    this.#embedding = embedding
    this.#models = models
  }

  /** Tools for one run: what judges take is counted as the evaluation's. */
  tools(origin: CallOrigin, turn: Acquire, signal: AbortSignal): ScoringTools {
    return {
      matches: this.#patterns.ofRun(signal),
      similarity: (a, b) => this.#similarity(a, b, signal),
      ask: async (modelId: string | null, messages: readonly ChatMessage[]) =>
        (await this.#models.generate({ modelId, messages, temperature: 0, origin, turn, signal })).text,
    }
  }

  async close(): Promise<void> {
    await this.#patterns.close()
  }

  async #similarity(a: string, b: string, signal: AbortSignal): Promise<number> {
    if (a.trim() === '' || b.trim() === '') return Number(a.trim() === b.trim())
    const embedder = await this.#embedding.getEmbedder(DEFAULT_EMBEDDING_MODEL)
    const [one, other] = (await embedder.embed([a, b], { signal })) as [Float32Array, Float32Array]
    const cosine = one.reduce((sum, value, at) => sum + value * (other[at] as number), 0)
    return Number(cosine.toFixed(6)) // vectors are single precision: the same text twice is 0.99999995
  }
}
