/** Runs the models that ship with Cadre: the embedding model and the reading model, in the same worker processes. */
import { setMaxListeners } from 'node:events'
import { availableParallelism } from 'node:os'
import { startProcess } from '../workers/start-worker.ts'
import { WorkerPool } from '../workers/worker-pool.ts'
import type { WorkerPoolLogger } from '../workers/worker-pool-options.ts'
import type { Priority } from '../workers/worker-protocol.ts'
import type { ModelResult, ModelTask, Reading } from './model-task.ts'

interface EmbeddedModelsOptions {
  /** Contains minilm.onnx, reader.onnx and tokenizer.json. */
  directory: string
  /** Number of processes. Default: one per core, up to four. */
  workers?: number | undefined
  idleMs?: number | undefined
  logger: WorkerPoolLogger
}

export interface EmbedOptions {
  signal?: AbortSignal | undefined
  /** Default: normal, behind queries. */
  priority?: Priority | undefined
  /** Callers with the same priority take turns. Default: each call is a caller of its own. */
  caller?: unknown
  /** Called with the number of embedded texts. */
  onProgress?: ((done: number) => void) | undefined
}

interface ReadOptions extends Pick<EmbedOptions, 'signal' | 'caller'> {
  /** Default: high. */
  priority?: Priority | undefined
}

const WORKER = { built: 'dist/daemon/inference/worker.js', source: new URL('worker.ts', import.meta.url) }
const MAX_DEFAULT_WORKERS = 4
const DEFAULT_IDLE_MS = 5 * 60_000
/** Another worker pays off for more texts than this: starting it takes as long as embedding them, and 110 MB of memory. */
const TEXTS_PER_WORKER = 16
/** Fewer, because somebody waits for the result of a query. */
const QUERY_TEXTS_PER_WORKER = 4
/** Enough that a worker never waits for the daemon, and few enough that others do not wait long. */
const MAX_TEXTS_AHEAD = 2
/** One at a time: the next text of a query goes to the worker that is free first. */
const MAX_QUERY_TEXTS_AHEAD = 1
const MAX_QUEUED_TEXTS = 20_000
/** Reranking and answering read the same passages one after the other. */
const MAX_CACHED_READINGS = 64

/** Finds the answers to a question in texts. */
export type PassageReader = Pick<EmbeddedModels, 'read'>

/** Also compares texts by their meaning. */
export type AnswerModels = Pick<EmbeddedModels, 'read' | 'embed'>

export class EmbeddedModels {
  readonly pool: WorkerPool<ModelTask, ModelResult>
  readonly workers: number
  readonly #readings = new Map<string, Reading>()
  /** Calls of `read` without a result, by caller. */
  readonly #readers = new Map<unknown, number>()

  constructor({ directory, logger, idleMs = DEFAULT_IDLE_MS, workers }: EmbeddedModelsOptions) {
    this.workers = workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS)
    this.pool = new WorkerPool({
      name: 'embedded model',
      size: this.workers,
      // Processes, because onnxruntime crashes when a thread that uses it ends (docs/decisions/0012-onnxruntime.md).
      start: () => startProcess(WORKER, { args: [directory] }),
      idleMs,
      maxQueued: MAX_QUEUED_TEXTS,
      jobsPerWorker: { high: QUERY_TEXTS_PER_WORKER, normal: TEXTS_PER_WORKER, low: TEXTS_PER_WORKER },
      pipeline: { high: MAX_QUERY_TEXTS_AHEAD, normal: MAX_TEXTS_AHEAD, low: MAX_TEXTS_AHEAD },
      // The system may have killed the worker, for example to free memory.
      attempts: 2,
      logger,
    })
  }

  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]> {
    const tasks = texts.map((text) => ({ text }))
    return this.#run(tasks, options) as Promise<Float32Array[]>
  }

  /** Looks for the answer to a question in each text. */
  async read(question: string, texts: readonly string[], options: ReadOptions = {}): Promise<Reading[]> {
    const { signal, priority = 'high', caller = Symbol('caller') } = options
    this.#readers.set(caller, (this.#readers.get(caller) ?? 0) + 1)
    try {
      return await this.#read(question, texts, { signal, priority, caller })
    } finally {
      const left = (this.#readers.get(caller) ?? 0) - 1
      if (left > 0) this.#readers.set(caller, left)
      else this.#readers.delete(caller)
    }
  }

  /** Whether somebody else waits until texts are read. */
  hasOtherReaders(caller: unknown): boolean {
    return this.#readers.size > (this.#readers.has(caller) ? 1 : 0)
  }

  close(): Promise<void> {
    return this.pool.close()
  }

  async #read(question: string, texts: readonly string[], options: ReadOptions): Promise<Reading[]> {
    const createKey = (text: string) => `${question}\0${text}`
    const readings = new Map(texts.map((text) => [text, this.#readings.get(createKey(text))]))
    const unread = [...readings].flatMap(([text, reading]) => (reading ? [] : [text]))
    // The longest first, so that all workers end at about the same time.
    unread.sort((a, b) => b.length - a.length)
    const tasks = unread.map((text) => ({ text, question }))
    const results = (await this.#run(tasks, options)) as Reading[]
    for (const [index, text] of unread.entries()) {
      readings.set(text, results[index])
      this.#cacheReading(createKey(text), results[index] as Reading)
    }
    return texts.map((text) => readings.get(text) as Reading)
  }

  #cacheReading(key: string, reading: Reading): void {
    if (this.#readings.size >= MAX_CACHED_READINGS) this.#readings.delete(this.#readings.keys().next().value as string)
    this.#readings.set(key, reading)
  }

  /** If a task fails, those that have not started are not run. */
  async #run(tasks: readonly ModelTask[], { signal, priority, caller, onProgress }: EmbedOptions = {}): Promise<ModelResult[]> {
    const failure = new AbortController()
    const options = {
      signal: signal ? AbortSignal.any([signal, failure.signal]) : failure.signal,
      priority,
      owner: caller ?? failure,
      request: { size: tasks.length },
    }
    setMaxListeners(0, options.signal) // each task adds a listener until it ends
    let done = 0
    const runTask = async (task: ModelTask) => {
      const result = await this.pool.run(task, options)
      onProgress?.(++done)
      return result
    }
    try {
      return await Promise.all(tasks.map(runTask))
    } catch (error) {
      failure.abort(error)
      throw error
    }
  }
}
