/** A pool of processes that answer texts with vectors: started when there is work, released when there is none for a while. */
import type { ChildProcess } from 'node:child_process'
import { CadreError } from '../../src/contract/errors.ts'
import type { Logger } from '../logging/logger.ts'
import type { EmbedOptions } from './embedder.ts'
import { EmbeddingJob } from './embedding-job.ts'
import type { WorkerMessage, WorkerRequest } from './worker-protocol.ts'

export type WorkerPoolLogger = Pick<Logger, 'debug' | 'warn'>

export interface WorkerPoolOptions {
  size: number
  /** After so long without work the workers end and give their memory back. */
  idleMs: number
  logger: WorkerPoolLogger
  start(): ChildProcess
}

/** A text in work and the next one: so a worker never waits for the daemon's event loop, and little has left the queue when a query comes. */
const AHEAD = 2
/** Queries go past texts that wait in a worker, so they may be handed over on top of those. */
const URGENT_AHEAD = 4

interface Worker {
  child: ChildProcess
  ready: boolean
  /** What it was asked and has not answered. */
  asked: Map<number, { job: EmbeddingJob; at: number }>
}

/** A worker ended with texts in its hands. */
export class WorkerLostError extends CadreError {}

export class EmbeddingWorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workerCount = new Set<Worker>()
  readonly #jobs = new Set<EmbeddingJob>()
  #number = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#options.size
  }

  /** Workers there are at the moment. */
  get workers(): number {
    return this.#workerCount.size
  }

  /** Texts that have no vector yet. */
  get pendingCount(): number {
    return [...this.#jobs].reduce((sum, job) => sum + job.remaining, 0)
  }

  async embed(texts: readonly string[], { signal, priority = 'index', onProgress: progress }: EmbedOptions = {}): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    if (this.#closed) throw stopping()
    if (texts.length === 0) return []
    const job = new EmbeddingJob(texts, priority === 'query', progress)
    const abort = () => this.#settle(job, signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#jobs.add(job)
    this.#work()
    try {
      return await job.result
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#settleAll(stopping())
    await this.#release()
  }

  async #release(): Promise<void> {
    clearTimeout(this.#idle)
    const children = [...this.#workerCount].map(({ child }) => child)
    this.#workerCount.clear()
    await Promise.all(children.map(ended))
  }

  /** Starts the workers that what waits deserves, and hands texts to those that are ready. */
  #work(): void {
    clearTimeout(this.#idle)
    const wanted = Math.min(this.#options.size, this.pendingCount)
    while (this.#workerCount.size < wanted) this.#start()
    for (const { child } of this.#workerCount) hold(child)
    this.#dispatch()
  }

  #start(): void {
    const child = this.#options.start()
    const worker: Worker = { child, ready: false, asked: new Map() }
    this.#workerCount.add(worker)
    child.on('message', (message: WorkerMessage) => this.#heard(worker, message))
    child.on('error', (error) => this.#lost(worker, error.message))
    child.on('exit', (code, signal) => this.#lost(worker, `it ended with ${signal ?? code}`))
  }

  #dispatch(): void {
    for (let job = this.#next(); job; job = this.#next()) {
      const worker = this.#freest(job.isUrgent ? URGENT_AHEAD : AHEAD)
      if (!worker) return
      const at = job.takeNext()
      const number = ++this.#number
      worker.asked.set(number, { job, at })
      // One that is gone tells so itself, by its exit.
      worker.child.send({ number, text: job.texts[at] ?? '', isUrgent: job.isUrgent } satisfies WorkerRequest, () => {})
    }
  }

  #next(): EmbeddingJob | undefined {
    const open = [...this.#jobs].filter((job) => job.hasNext)
    return open.find(({ isUrgent: urgent }) => urgent) ?? open[0]
  }

  #freest(limit: number): Worker | undefined {
    const free = [...this.#workerCount].filter(({ ready, asked }) => ready && asked.size < limit)
    return free.sort((a, b) => a.asked.size - b.asked.size)[0]
  }

  #heard(worker: Worker, message: WorkerMessage): void {
    // One that was released may still have had its last word under way.
    if (!this.#workerCount.has(worker)) return
    if (message.kind === 'broken') {
      void ended(worker.child)
      this.#lost(worker, message.problem)
    } else if (message.kind === 'ready') {
      worker.ready = true
    } else {
      const asked = worker.asked.get(message.number)
      worker.asked.delete(message.number)
      if (asked) this.#answered(asked.job, asked.at, message)
    }
    this.#dispatch()
  }

  #answered(job: EmbeddingJob, at: number, message: Extract<WorkerMessage, { number: number }>): void {
    if (message.kind === 'problem') {
      this.#settle(job, new CadreError('INTERNAL', `The embedding model failed on a text: ${message.problem}`))
    } else {
      job.setVector(at, message.vector)
      if (job.remaining === 0) this.#settle(job)
    }
  }

  /** Only those whose texts it had fail with it; where it never came up, all do, since another would fare no better. */
  #lost(worker: Worker, problem: string): void {
    if (!this.#workerCount.delete(worker)) return
    this.#options.logger.warn({ problem, texts: worker.asked.size }, 'an embedding worker is lost')
    if (worker.ready) {
      const failure = new WorkerLostError('INTERNAL', `The embedding worker that had this text is lost: ${problem}.`, {
        hint: 'Another one takes its place; try again.',
      })
      for (const { job } of worker.asked.values()) this.#settle(job, failure)
      if (this.#jobs.size > 0) this.#work()
    } else if (this.#workerCount.size === 0) {
      const hint = 'Install Cadre again; from source, run npm run build.'
      this.#settleAll(new CadreError('UNAVAILABLE', `The embedding model cannot be loaded: ${problem}`, { hint }))
    }
  }

  #settle(job: EmbeddingJob, failure?: unknown): void {
    if (!this.#jobs.delete(job)) return
    job.finish(failure)
    if (this.#jobs.size === 0) this.#rest()
  }

  #settleAll(failure: unknown): void {
    for (const job of [...this.#jobs]) this.#settle(job, failure)
  }

  /** A process with nothing else to do may end now. */
  #rest(): void {
    for (const { child } of this.#workerCount) letGo(child)
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      this.#options.logger.debug({ workers: this.#workerCount.size }, 'embedding workers released')
      void this.#release()
    }, this.#options.idleMs).unref()
  }
}

const stopping = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })

/** Keeps this process alive for its answer. */
function hold(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}

function letGo(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** It has nothing to lose, so it is not asked. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  hold(child)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}
