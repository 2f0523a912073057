/** A pool of threads that answer texts with vectors: started when there is work, released when there is none for a while. */
import type { Worker } from 'node:worker_threads'
import { CadreError } from '../../src/contract/errors.ts'
import type { EmbedOptions } from './embedder.ts'
import { Job } from './job.ts'
import type { Message, Question } from './protocol.ts'

export interface PoolLogger {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface PoolOptions {
  size: number
  /** After so long without work the threads end and give their memory back. */
  idleMs: number
  logger: PoolLogger
  start(): Worker
}

/** A text in work and the next one: so a thread never waits for this one's event loop, and a text is never far from the queue a query overtakes. */
const AHEAD = 2
/** Queries go past texts that wait in a thread, so they may be handed over on top of those. */
const URGENT_AHEAD = 4

interface Thread {
  worker: Worker
  ready: boolean
  /** What it was asked and has not answered. */
  asked: Map<number, { job: Job; at: number }>
  error?: Error
}

export class EmbeddingPool {
  readonly #options: PoolOptions
  readonly #threads = new Set<Thread>()
  readonly #jobs = new Set<Job>()
  #number = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#options.size
  }

  /** Threads there are at the moment. */
  get threads(): number {
    return this.#threads.size
  }

  /** Texts that have no vector yet. */
  get waiting(): number {
    return [...this.#jobs].reduce((sum, job) => sum + job.left, 0)
  }

  async embed(texts: readonly string[], { signal, priority = 'index' }: EmbedOptions = {}): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    if (this.#closed) throw stopping()
    if (texts.length === 0) return []
    const job = new Job(texts, priority === 'query')
    const abort = () => this.#settle(job, signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#jobs.add(job)
    this.#work()
    try {
      return await job.done
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
    const threads = [...this.#threads]
    this.#threads.clear()
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  /** Starts the threads that what waits deserves, and hands texts to those that are ready. */
  #work(): void {
    clearTimeout(this.#idle)
    const wanted = Math.min(this.#options.size, this.waiting)
    while (this.#threads.size < wanted) this.#start()
    for (const { worker } of this.#threads) worker.ref()
    this.#dispatch()
  }

  #start(): void {
    const worker = this.#options.start()
    const thread: Thread = { worker, ready: false, asked: new Map() }
    this.#threads.add(thread)
    worker.on('message', (message: Message) => this.#heard(thread, message))
    worker.on('error', (error) => {
      thread.error = error
    })
    worker.on('exit', (code) => this.#ended(thread, code))
  }

  #dispatch(): void {
    for (let job = this.#next(); job; job = this.#next()) {
      const thread = this.#freest(job.urgent ? URGENT_AHEAD : AHEAD)
      if (!thread) return
      const at = job.take()
      const number = ++this.#number
      thread.asked.set(number, { job, at })
      thread.worker.postMessage({ number, text: job.texts[at] ?? '', urgent: job.urgent } satisfies Question)
    }
  }

  #next(): Job | undefined {
    const open = [...this.#jobs].filter((job) => job.untaken)
    return open.find(({ urgent }) => urgent) ?? open[0]
  }

  #freest(limit: number): Thread | undefined {
    const free = [...this.#threads].filter(({ ready, asked }) => ready && asked.size < limit)
    return free.sort((a, b) => a.asked.size - b.asked.size)[0]
  }

  #heard(thread: Thread, message: Message): void {
    // A thread that was released may still have had its last word under way.
    if (!this.#threads.has(thread)) return
    if (message.kind === 'ready') {
      thread.ready = true
      this.#dispatch()
      return
    }
    const asked = thread.asked.get(message.number)
    thread.asked.delete(message.number)
    if (asked && message.kind === 'vector') {
      asked.job.answer(asked.at, message.vector)
      if (asked.job.left === 0) this.#settle(asked.job)
    } else if (asked && message.kind === 'problem') {
      this.#settle(asked.job, new CadreError('INTERNAL', `The embedding model failed on a text: ${message.problem}`))
    }
    this.#dispatch()
  }

  /** Only those whose texts it had fail with it; where it never came up, all do, since another would fare no better. */
  #ended(thread: Thread, code: number): void {
    if (!this.#threads.delete(thread)) return
    const cause = thread.error ?? new Error(`it exited with ${code}`)
    this.#options.logger.warn({ err: cause }, 'an embedding thread ended unasked')
    if (thread.ready) {
      const failure = new CadreError('INTERNAL', `The embedding thread ended while it had this text: ${cause.message}`, { cause })
      for (const { job } of thread.asked.values()) this.#settle(job, failure)
      if (this.#jobs.size > 0) this.#work()
    } else if (this.#threads.size === 0) {
      const hint = 'Install Cadre again; from source, run npm run build.'
      this.#settleAll(new CadreError('UNAVAILABLE', `The embedding model cannot be loaded: ${cause.message}`, { hint, cause }))
    }
  }

  #settle(job: Job, failure?: unknown): void {
    if (!this.#jobs.delete(job)) return
    job.settle(failure)
    if (this.#jobs.size === 0) this.#rest()
  }

  #settleAll(failure: unknown): void {
    for (const job of [...this.#jobs]) this.#settle(job, failure)
  }

  /** A process with nothing else to do may end now. */
  #rest(): void {
    for (const { worker } of this.#threads) worker.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      this.#options.logger.debug({ threads: this.#threads.size }, 'embedding threads released')
      void this.#release()
    }, this.#options.idleMs).unref()
  }
}

const stopping = () => new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'Try again in a moment.' })
