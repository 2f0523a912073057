/** The embedded model (all-MiniLM-L6-v2, quantized to int8) as an embedder. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { getWorkerEntry } from './paths.ts'
import { EmbeddingWorkerPool, WorkerLostError, type WorkerPoolLogger } from './worker-pool.ts'

export const MINILM = 'minilm'

const DIMENSIONS = 384
/** Workers finish a call at different times, which matters little with this many texts. */
const TEXTS_PER_WORKER = 16

export interface MinilmOptions {
  /** Contains minilm.onnx and tokenizer.json. */
  directory: string
  workers: number
  idleMs: number
  logger: WorkerPoolLogger
}

export class MinilmEmbedder implements Embedder {
  readonly id = MINILM
  readonly batchSize: number
  readonly pool: EmbeddingWorkerPool

  constructor({ directory, workers, idleMs, logger }: MinilmOptions) {
    this.batchSize = workers * TEXTS_PER_WORKER
    this.pool = new EmbeddingWorkerPool({ size: workers, idleMs, logger, start: () => startWorker(directory) })
  }

  async getDimensions(): Promise<number> {
    return DIMENSIONS
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]> {
    try {
      return await this.pool.embed(texts, options)
    } catch (error) {
      // Retried once: the system may have killed the worker, for example to free memory.
      if (!(error instanceof WorkerLostError)) throw error
      return this.pool.embed(texts, options)
    }
  }
}

/** Starts a process, because onnxruntime crashes when a thread that uses it ends (docs/decisions/0012-onnxruntime.md). */
function startWorker(directory: string): ChildProcess {
  const { file, execArgv } = getWorkerEntry()
  // Advanced serialization transfers vectors as bytes instead of JSON.
  return fork(file, [directory], { execArgv, serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}
