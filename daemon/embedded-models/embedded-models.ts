/** Runs the models that ship with Cadre: the embedding model and the reading model, in the same worker processes. */
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { getWorkerEntry } from './paths.ts'
import { ModelWorkerPool, type RunOptions, WorkerLostError, type WorkerPoolLogger } from './worker-pool.ts'
import type { Reading, WorkerResult, WorkerTask } from './worker-protocol.ts'

interface EmbeddedModelsOptions {
  /** Contains minilm.onnx, reader.onnx and tokenizer.json. */
  directory: string
  /** Number of processes. Default: one per core, up to four. */
  workers?: number | undefined
  idleMs?: number | undefined
  logger: WorkerPoolLogger
}

const MAX_DEFAULT_WORKERS = 4
const DEFAULT_IDLE_MS = 5 * 60_000
/** Reranking and answering read the same passages one after the other. */
const MAX_CACHED_READINGS = 64

/** Finds the answers to a question in texts. */
export type PassageReader = Pick<EmbeddedModels, 'read'>

export class EmbeddedModels {
  readonly pool: ModelWorkerPool
  readonly workers: number
  readonly #readings = new Map<string, Reading>()

  constructor({ directory, logger, idleMs = DEFAULT_IDLE_MS, workers }: EmbeddedModelsOptions) {
    this.workers = workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS)
    this.pool = new ModelWorkerPool({ size: this.workers, idleMs, logger, start: () => startWorker(directory) })
  }

  embed(texts: readonly string[], options?: RunOptions): Promise<Float32Array[]> {
    const tasks = texts.map((text) => ({ text }))
    return this.#run(tasks, options) as Promise<Float32Array[]>
  }

  /** Looks for the answer to a question in each text. */
  async read(question: string, texts: readonly string[], signal?: AbortSignal): Promise<Reading[]> {
    const createKey = (text: string) => `${question}\0${text}`
    const readings = new Map(texts.map((text) => [text, this.#readings.get(createKey(text))]))
    const unread = [...readings].flatMap(([text, reading]) => (reading ? [] : [text]))
    const tasks = unread.map((text) => ({ text, question }))
    const results = (await this.#run(tasks, { signal, priority: 'query' })) as Reading[]
    for (const [index, text] of unread.entries()) {
      readings.set(text, results[index])
      this.#cacheReading(createKey(text), results[index] as Reading)
    }
    return texts.map((text) => readings.get(text) as Reading)
  }

  close(): Promise<void> {
    return this.pool.close()
  }

  #cacheReading(key: string, reading: Reading): void {
    if (this.#readings.size >= MAX_CACHED_READINGS) this.#readings.delete(this.#readings.keys().next().value as string)
    this.#readings.set(key, reading)
  }

  async #run(tasks: readonly WorkerTask[], options?: RunOptions): Promise<WorkerResult[]> {
    try {
      return await this.pool.run(tasks, options)
    } catch (error) {
      // Retried once: the system may have killed the worker, for example to free memory.
      if (!(error instanceof WorkerLostError)) throw error
      return this.pool.run(tasks, options)
    }
  }
}

/** Starts a process, because onnxruntime crashes when a thread that uses it ends (docs/decisions/0012-onnxruntime.md). */
function startWorker(directory: string): ChildProcess {
  const { file, execArgv } = getWorkerEntry()
  // Advanced serialization transfers vectors as bytes instead of JSON.
  return fork(file, [directory], { execArgv, serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}
