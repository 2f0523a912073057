/** The embedded model, all-MiniLM-L6-v2 in bytes, as an embedder. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { getWorkerEntry } from './paths.ts'
import { EmbeddingWorkerPool, WorkerLostError, type WorkerPoolLogger } from './worker-pool.ts'

export const MINILM = 'minilm'

const DIMENSIONS = 384
/** The workers of one call end at different times; with so many texts for each that matters little. */
const TEXTS_A_WORKER = 16

export interface MinilmOptions {
  /** Where minilm.onnx and tokenizer.json are. */
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
    this.batchSize = workers * TEXTS_A_WORKER
    this.pool = new EmbeddingWorkerPool({ size: workers, idleMs, logger, start: () => started(directory) })
  }

  async getDimensions(): Promise<number> {
    return DIMENSIONS
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]> {
    try {
      return await this.pool.embed(texts, options)
    } catch (error) {
      // A worker can be ended from outside, as by a system short of memory: once, another is given what it had.
      if (!(error instanceof WorkerLostError)) throw error
      return this.pool.embed(texts, options)
    }
  }
}

/** Processes, not threads: onnxruntime takes the whole process along when a thread that has it ends (docs/decisions/0012-onnxruntime.md). */
function started(directory: string): ChildProcess {
  const { file, execArgv } = getWorkerEntry()
  // Vectors travel as the bytes they are, not as JSON.
  return fork(file, [directory], { execArgv, serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}
