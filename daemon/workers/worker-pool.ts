/** A pool of threads or processes that do jobs. Workers start on demand, are replaced when they fail, and end when idle. */
import { type Clock, systemClock } from '../async/clock.ts'
import { createDeferred, type Deferred } from '../async/deferred.ts'
import { FairJobQueue } from './fair-job-queue.ts'
import type { WorkerHandle } from './start-worker.ts'
import { WorkerError, type WorkerProblem } from './worker-error.ts'
import type { JobOptions, WorkerPoolOptions } from './worker-pool-options.ts'
import { type PoolMessage, PRIORITIES, type Priority, type WorkerMessage } from './worker-protocol.ts'

/** Tasks and results are only typed where they enter and leave the pool. */
interface Job extends JobOptions<never> {
  id: number
  task: unknown
  priority: Priority
  owner: unknown
  deferred: Deferred<unknown>
  attempts: number
  worker: PoolWorker | undefined
  cancelTimer(): void
}

interface PoolWorker {
  handle: WorkerHandle
  isReady: boolean
  /** Jobs without a result, by ID. */
  jobs: Map<number, Job>
}

type Message = WorkerMessage<unknown, never>

/** A worker that ends before it can do jobs, as when memory is short, is started again; the jobs fail after this many in a row. */
const MAX_STARTS = 3

const ONE_EACH: Record<Priority, number> = { high: 1, normal: 1, low: 1 }

const isAsUrgent = (job: Job, priority: Priority) => PRIORITIES.indexOf(job.priority) <= PRIORITIES.indexOf(priority)

export class WorkerPool<Task, Result, Part = never> {
  readonly #options: WorkerPoolOptions
  readonly #clock: Clock
  readonly #workers = new Set<PoolWorker>()
  readonly #queue = new FairJobQueue<Job>()
  /** Queued and running jobs. */
  readonly #jobs = new Set<Job>()
  readonly #counts: Record<Priority, number> = { high: 0, normal: 0, low: 0 }
  #lastId = 0
  /** Since a worker was ready. */
  #failedStarts = 0
  #cancelIdleTimer = () => {}
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  get workerCount(): number {
    return this.#workers.size
  }

  /** Number of jobs without a result. */
  get pendingCount(): number {
    return this.#jobs.size
  }

  /** Throws a WorkerError if there is no result, or the reason of the signal. */
  async run(task: Task, options: JobOptions<Part> = {}): Promise<Result> {
    const { signal, priority = 'normal', owner } = options
    signal?.throwIfAborted()
    if (this.#isClosed) throw this.#createError('closed')
    if (this.#queue.size >= this.#options.maxQueued) throw this.#createError('busy')
    const job: Job = {
      ...(options as JobOptions<never>),
      id: ++this.#lastId,
      task,
      priority,
      owner,
      deferred: createDeferred(),
      attempts: 0,
      worker: undefined,
      cancelTimer: () => {},
    }
    const abort = () => this.#abort(job, signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#jobs.add(job)
    this.#counts[priority]++
    this.#queue.add(job)
    this.#cancelIdleTimer()
    if (this.#jobs.size === 1) for (const { handle } of this.#workers) handle.setReferenced(true)
    this.#startWorkers()
    this.#dispatch()
    try {
      return (await job.deferred.promise) as Result
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Starts workers for this many jobs, which are about to come. They end if none comes within the idle time. */
  warmUp(jobCount: number): void {
    if (this.#isClosed || jobCount === 0) return
    this.#startWorkers(jobCount)
    if (this.#jobs.size === 0) this.#startIdleTimer()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#failAll(this.#createError('closed'))
    await this.#endWorkers()
  }

  /** @param expectedCount jobs of the normal priority that are about to come */
  #startWorkers(expectedCount = 0): void {
    const { size, jobsPerWorker = ONE_EACH } = this.#options
    const counts = { ...this.#counts, normal: this.#counts.normal + expectedCount }
    const wanted = PRIORITIES.reduce((sum, priority) => sum + Math.ceil(counts[priority] / jobsPerWorker[priority]), 0)
    while (this.#workers.size < Math.min(size, wanted)) this.#startWorker()
  }

  #startWorker(): void {
    const worker: PoolWorker = { handle: this.#options.start(), isReady: false, jobs: new Map() }
    this.#workers.add(worker)
    worker.handle.listen(
      (message) => this.#handleMessage(worker, message as Message),
      (problem, isOutOfMemory) => this.#handleExit(worker, problem, isOutOfMemory),
    )
  }

  #dispatch(): void {
    for (let job = this.#queue.peek(); job; job = this.#queue.peek()) {
      const worker = this.#findFreeWorker(job)
      if (!worker) return
      this.#queue.take()
      this.#assign(worker, job)
    }
  }

  /** Returns the ready worker with the fewest jobs. A job whose worker was lost, maybe by its fault, gets one without others. */
  #findFreeWorker({ priority, attempts }: Job): PoolWorker | undefined {
    const { pipeline } = this.#options
    // Less urgent jobs that a worker has not begun wait for this one.
    const countAhead = ({ jobs }: PoolWorker) =>
      attempts > 0 || !pipeline ? jobs.size : [...jobs.values()].filter((job) => isAsUrgent(job, priority)).length
    const limit = attempts > 0 || !pipeline ? 1 : pipeline[priority]
    const free = [...this.#workers].filter((worker) => worker.isReady && countAhead(worker) < limit)
    return free.sort((a, b) => a.jobs.size - b.jobs.size)[0]
  }

  #assign(worker: PoolWorker, job: Job): void {
    job.worker = worker
    job.attempts++
    worker.jobs.set(job.id, job)
    this.#startTimer(job)
    const { id, priority, task } = job
    worker.handle.send({ kind: 'job', id, priority, task } satisfies PoolMessage<unknown>)
  }

  #startTimer(job: Job): void {
    const { timeoutMs = this.#options.timeoutMs } = job
    if (timeoutMs === undefined) return
    job.cancelTimer = this.#clock.schedule(timeoutMs, () => {
      this.#settle(job, () => job.deferred.reject(this.#createError('timeout', String(timeoutMs))))
      if (job.worker) this.#loseWorker(job.worker, 'lost', 'another job took too long')
    })
  }

  #handleMessage(worker: PoolWorker, message: Message): void {
    // A worker that was ended may have sent a message before.
    if (!this.#workers.has(worker)) return
    if (message.kind === 'broken') {
      // Another worker would not be able to load it either.
      this.#failedStarts = MAX_STARTS
      this.#handleExit(worker, message.error, false)
      void worker.handle.end()
    } else if (message.kind === 'ready') {
      worker.isReady = true
      this.#failedStarts = 0
    } else {
      const job = worker.jobs.get(message.id)
      if (job && message.kind === 'part') void this.#receivePart(worker, job, message.part)
      else if (job && message.kind !== 'part') this.#receiveResult(worker, job, message)
    }
    this.#dispatch()
  }

  /** Requests the next part with setImmediate so that the event loop handles other work between parts. */
  async #receivePart(worker: PoolWorker, job: Job, part: never): Promise<void> {
    job.cancelTimer()
    try {
      if (this.#jobs.has(job)) await job.onPart?.(part)
    } catch (error) {
      this.#abort(job, error)
    }
    setImmediate(() => {
      if (!this.#workers.has(worker) || !worker.jobs.has(job.id)) return
      if (this.#jobs.has(job)) this.#startTimer(job)
      worker.handle.send({ kind: 'next', id: job.id } satisfies PoolMessage<unknown>)
    })
  }

  #receiveResult(worker: PoolWorker, job: Job, message: Extract<Message, { kind: 'result' | 'error' }>): void {
    worker.jobs.delete(job.id)
    this.#settle(job, () => {
      if (message.kind === 'result') job.deferred.resolve(message.result)
      else job.deferred.reject(this.#createError('failed', message.error))
    })
    if (job.endsWorker || message.isTooLarge) this.#loseWorker(worker, 'lost', 'it was replaced')
  }

  #abort(job: Job, reason: unknown): void {
    if (!this.#settle(job, () => job.deferred.reject(reason))) return
    if (this.#queue.delete(job)) return
    if (job.worker && !this.#options.pipeline) this.#loseWorker(job.worker, 'lost', 'another job was aborted')
  }

  #handleExit(worker: PoolWorker, problem: string, isOutOfMemory: boolean): void {
    if (!this.#workers.has(worker)) return
    const { name, logger } = this.#options
    logger?.warn({ name, problem, jobs: worker.jobs.size }, 'worker lost')
    if (worker.isReady) {
      this.#loseWorker(worker, isOutOfMemory ? 'memory' : 'lost', isOutOfMemory ? String(worker.handle.memoryMb) : problem)
      return
    }
    this.#workers.delete(worker)
    if (this.#workers.size > 0) return
    if (++this.#failedStarts < MAX_STARTS) {
      this.#startWorkers()
    } else {
      this.#failedStarts = 0
      this.#failAll(this.#createError('broken', problem))
    }
  }

  /** Ends a worker. Its jobs are done by another one, or fail if they have no attempts left. */
  #loseWorker(worker: PoolWorker, problem: WorkerProblem, detail: string): void {
    if (!this.#workers.delete(worker)) return
    void worker.handle.end()
    for (const job of worker.jobs.values()) {
      if (!this.#jobs.has(job)) continue
      job.cancelTimer()
      if (job.attempts < (this.#options.attempts ?? 1)) this.#queue.add(job)
      else this.#settle(job, () => job.deferred.reject(this.#createError(problem, detail)))
    }
    this.#startWorkers()
    this.#dispatch()
  }

  /** Returns false if the job had been settled. */
  #settle(job: Job, settle: () => void): boolean {
    if (!this.#jobs.delete(job)) return false
    this.#counts[job.priority]--
    job.cancelTimer()
    settle()
    if (this.#jobs.size === 0) this.#startIdleTimer()
    return true
  }

  #failAll(error: WorkerError): void {
    for (const job of [...this.#jobs]) {
      this.#queue.delete(job)
      this.#settle(job, () => job.deferred.reject(error))
    }
  }

  /** Also lets this process exit while the workers are idle. */
  #startIdleTimer(): void {
    const { name, idleMs, logger } = this.#options
    for (const { handle } of this.#workers) handle.setReferenced(false)
    this.#cancelIdleTimer()
    this.#cancelIdleTimer = this.#clock.schedule(idleMs, () => {
      logger?.debug({ name, workers: this.#workers.size }, 'ending idle workers')
      void this.#endWorkers()
    })
  }

  async #endWorkers(): Promise<void> {
    this.#cancelIdleTimer()
    const workers = [...this.#workers]
    this.#workers.clear()
    await Promise.all(workers.map(({ handle }) => handle.end()))
  }

  #createError(problem: WorkerProblem, detail?: string): WorkerError {
    return new WorkerError(problem, this.#options.name, detail)
  }
}
