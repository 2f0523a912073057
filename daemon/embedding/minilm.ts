/** The embedded model, all-MiniLM-L6-v2 in bytes, as an embedder. */
import { Worker } from 'node:worker_threads'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { workerEntry } from './places.ts'
import { EmbeddingPool, type PoolLogger } from './pool.ts'

export const MINILM = 'minilm'

const DIMENSIONS = 384
/** The threads of one call's last texts end at different times; with so many a thread that matters little. */
const TEXTS_A_THREAD = 16

export interface MinilmOptions {
  /** Where minilm.onnx and tokenizer.json are. */
  directory: string
  workers: number
  idleMs: number
  logger: PoolLogger
}

export class MinilmEmbedder implements Embedder {
  readonly id = MINILM
  readonly batch: number
  readonly pool: EmbeddingPool

  constructor({ directory, workers, idleMs, logger }: MinilmOptions) {
    this.batch = workers * TEXTS_A_THREAD
    this.pool = new EmbeddingPool({ size: workers, idleMs, logger, start: () => new Worker(workerEntry(), { workerData: { directory } }) })
  }

  async dimensions(): Promise<number> {
    return DIMENSIONS
  }

  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]> {
    return this.pool.embed(texts, options)
  }
}
