/** A pool of worker processes that run the embedded models. Workers start on demand and end when idle. */
import type { ChildProcess } from 'node:child_process'
import { CadreError } from '../../src/contract/errors.ts'
import type { Logger } from '../logging/logger.ts'
import { WorkerJob } from './worker-job.ts'
import type { WorkerMessage, WorkerRequest, WorkerResult, WorkerTask } from './worker-protocol.ts'

export type WorkerPoolLogger = Pick<Logger, 'debug' | 'warn'>

export interface RunOptions {
  signal?: AbortSignal | undefined
  /** Tasks of queries run before those of texts that are being indexed. */
  priority?: 'query' | 'index' | undefined
  /** Called with the number of finished tasks. */
  onProgress?: ((done: number) => void) | undefined
}

interface WorkerPoolOptions {
  size: number
  /** Workers end after this long without work and free their memory. */
  idleMs: number
  logger: WorkerPoolLogger
  start(): ChildProcess
}

/** Another worker pays off for more texts than this: starting it takes as long as embedding them, and 110 MB of memory. */
const TEXTS_PER_WORKER = 16
/** Fewer, because somebody waits for the result of a query. */
const QUERY_TASKS_PER_WORKER = 4
/** Requests sent to a worker ahead: enough that it never waits for the daemon, and few enough that queries do not wait long. */
const MAX_PENDING_PER_WORKER = 2
/** Higher for queries, because a worker takes them first. */
const MAX_PENDING_WITH_QUERIES = 4

interface Worker {
  process: ChildProcess
  isReady: boolean
  /** Requests without a response, by id. */
  pending: Map<number, { job: WorkerJob; index: number }>
}

/** A worker ended before it finished its tasks. */
export class WorkerLostError extends CadreError {}

export class ModelWorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers = new Set<Worker>()
  readonly #jobs = new Set<WorkerJob>()
  #lastRequestId = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  get workerCount(): number {
    return this.#workers.size
  }

  /** Number of tasks without a result. */
  get pendingCount(): number {
    return [...this.#jobs].reduce((sum, job) => sum + job.remaining, 0)
  }

  /** Returns the results in the order of the tasks. */
  async run(tasks: readonly WorkerTask[], { signal, priority = 'index', onProgress }: RunOptions = {}): Promise<WorkerResult[]> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw createStoppingError()
    if (tasks.length === 0) return []
    const job = new WorkerJob(tasks, priority === 'query', onProgress)
    const abort = () => this.#finish(job, signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#jobs.add(job)
    this.#startJobs()
    try {
      return await job.results
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#failAll(createStoppingError())
    await this.#endWorkers()
  }

  async #endWorkers(): Promise<void> {
    clearTimeout(this.#idleTimer)
    const processes = [...this.#workers].map(({ process }) => process)
    this.#workers.clear()
    await Promise.all(processes.map(kill))
  }

  #startJobs(): void {
    clearTimeout(this.#idleTimer)
    while (this.#workers.size < this.#countWantedWorkers()) this.#startWorker()
    for (const { process } of this.#workers) ref(process)
    this.#dispatch()
  }

  #countWantedWorkers(): number {
    const count = (isUrgent: boolean) => [...this.#jobs].reduce((sum, job) => sum + (job.isUrgent === isUrgent ? job.remaining : 0), 0)
    const wanted = Math.ceil(count(true) / QUERY_TASKS_PER_WORKER) + Math.ceil(count(false) / TEXTS_PER_WORKER)
    return Math.min(this.#options.size, wanted)
  }

  #startWorker(): void {
    const process = this.#options.start()
    const worker: Worker = { process, isReady: false, pending: new Map() }
    this.#workers.add(worker)
    process.on('message', (message: WorkerMessage) => this.#handleMessage(worker, message))
    process.on('error', (error) => this.#handleExit(worker, error.message))
    process.on('exit', (code, signal) => this.#handleExit(worker, `it exited with ${signal ?? code}`))
  }

  #dispatch(): void {
    for (let job = this.#nextJob(); job; job = this.#nextJob()) {
      const worker = this.#findFreeWorker(job.isUrgent ? MAX_PENDING_WITH_QUERIES : MAX_PENDING_PER_WORKER)
      if (!worker) return
      const index = job.takeNext()
      const id = ++this.#lastRequestId
      worker.pending.set(id, { job, index })
      // Errors are ignored: the exit of the process is handled.
      worker.process.send({ ...(job.tasks[index] as WorkerTask), id, isUrgent: job.isUrgent } satisfies WorkerRequest, () => {})
    }
  }

  #nextJob(): WorkerJob | undefined {
    const jobs = [...this.#jobs].filter((job) => job.hasNext)
    return jobs.find(({ isUrgent }) => isUrgent) ?? jobs[0]
  }

  /** Returns the ready worker with the fewest pending requests, if they are below the limit. */
  #findFreeWorker(limit: number): Worker | undefined {
    const free = [...this.#workers].filter(({ isReady, pending }) => isReady && pending.size < limit)
    return free.sort((a, b) => a.pending.size - b.pending.size)[0]
  }

  #handleMessage(worker: Worker, message: WorkerMessage): void {
    // A worker that was ended may have sent a message before.
    if (!this.#workers.has(worker)) return
    if (message.kind === 'broken') {
      void kill(worker.process)
      this.#handleExit(worker, message.error)
    } else if (message.kind === 'ready') {
      worker.isReady = true
    } else {
      const pending = worker.pending.get(message.id)
      worker.pending.delete(message.id)
      if (pending) this.#handleResponse(pending.job, pending.index, message)
    }
    this.#dispatch()
  }

  #handleResponse(job: WorkerJob, index: number, message: Extract<WorkerMessage, { id: number }>): void {
    if (message.kind === 'error') {
      this.#finish(job, new CadreError('INTERNAL', `The embedded model failed on a text: ${message.error}`))
    } else {
      job.setResult(index, message.result)
      if (job.remaining === 0) this.#finish(job)
    }
  }

  /** Fails the jobs whose tasks the worker had. If no worker could start, all jobs fail, because another attempt would fail too. */
  #handleExit(worker: Worker, problem: string): void {
    if (!this.#workers.delete(worker)) return
    this.#options.logger.warn({ problem, tasks: worker.pending.size }, 'model worker lost')
    if (worker.isReady) {
      const error = new WorkerLostError('INTERNAL', `The process that runs the embedded model was lost: ${problem}.`, {
        hint: 'Try again.',
      })
      for (const { job } of worker.pending.values()) this.#finish(job, error)
      if (this.#jobs.size > 0) this.#startJobs()
    } else if (this.#workers.size === 0) {
      const hint = 'Reinstall Cadre; in a source checkout, run npm run build.'
      this.#failAll(new CadreError('UNAVAILABLE', `The embedded model cannot be loaded: ${problem}`, { hint }))
    }
  }

  #finish(job: WorkerJob, error?: unknown): void {
    if (!this.#jobs.delete(job)) return
    job.finish(error)
    if (this.#jobs.size === 0) this.#startIdleTimer()
  }

  #failAll(error: unknown): void {
    for (const job of [...this.#jobs]) this.#finish(job, error)
  }

  /** Also lets this process exit while the workers are idle. */
  #startIdleTimer(): void {
    for (const { process } of this.#workers) unref(process)
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      this.#options.logger.debug({ workers: this.#workers.size }, 'ending idle model workers')
      void this.#endWorkers()
    }, this.#options.idleMs).unref()
  }
}

const createStoppingError = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })

/** Keeps this process alive while the worker has work. */
function ref(worker: ChildProcess): void {
  worker.ref()
  worker.channel?.ref()
}

function unref(worker: ChildProcess): void {
  worker.unref()
  worker.channel?.unref()
}

/** Workers have no state to save. */
async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null || worker.pid === undefined) return
  ref(worker)
  const exit = new Promise((resolve) => worker.once('exit', resolve))
  worker.kill('SIGKILL')
  await exit
}
