/** A pool of processes that answer texts with vectors: started when there is work, released when there is none for a while. */
import type { ChildProcess } from 'node:child_process'
import { CadreError } from '../../src/contract/errors.ts'
import type { Logger } from '../logging/logger.ts'
import type { EmbedOptions } from './embedder.ts'
import { Job } from './job.ts'
import type { Message, Question } from './protocol.ts'

export type PoolLogger = Pick<Logger, 'debug' | 'warn'>

export interface PoolOptions {
  size: number
  /** After so long without work the workers end and give their memory back. */
  idleMs: number
  logger: PoolLogger
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
  asked: Map<number, { job: Job; at: number }>
}

/** A worker ended with texts in its hands. */
export class LostWorker extends CadreError {}

export class EmbeddingPool {
  readonly #options: PoolOptions
  readonly #workers = new Set<Worker>()
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

  /** Workers there are at the moment. */
  get workers(): number {
    return this.#workers.size
  }

  /** Texts that have no vector yet. */
  get waiting(): number {
    return [...this.#jobs].reduce((sum, job) => sum + job.left, 0)
  }

  async embed(texts: readonly string[], { signal, priority = 'index', progress }: EmbedOptions = {}): Promise<Float32Array[]> {
    signal?.throwIfAborted()
    if (this.#closed) throw stopping()
    if (texts.length === 0) return []
    const job = new Job(texts, priority === 'query', progress)
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
    const children = [...this.#workers].map(({ child }) => child)
    this.#workers.clear()
    await Promise.all(children.map(ended))
  }

  /** Starts the workers that what waits deserves, and hands texts to those that are ready. */
  #work(): void {
    clearTimeout(this.#idle)
    const wanted = Math.min(this.#options.size, this.waiting)
    while (this.#workers.size < wanted) this.#start()
    for (const { child } of this.#workers) hold(child)
    this.#dispatch()
  }

  #start(): void {
    const child = this.#options.start()
    const worker: Worker = { child, ready: false, asked: new Map() }
    this.#workers.add(worker)
    child.on('message', (message: Message) => this.#heard(worker, message))
    child.on('error', (error) => this.#lost(worker, error.message))
    child.on('exit', (code, signal) => this.#lost(worker, `it ended with ${signal ?? code}`))
  }

  #dispatch(): void {
    for (let job = this.#next(); job; job = this.#next()) {
      const worker = this.#freest(job.urgent ? URGENT_AHEAD : AHEAD)
      if (!worker) return
      const at = job.take()
      const number = ++this.#number
      worker.asked.set(number, { job, at })
      // One that is gone tells so itself, by its exit.
      worker.child.send({ number, text: job.texts[at] ?? '', urgent: job.urgent } satisfies Question, () => {})
    }
  }

  #next(): Job | undefined {
    const open = [...this.#jobs].filter((job) => job.untaken)
    return open.find(({ urgent }) => urgent) ?? open[0]
  }

  #freest(limit: number): Worker | undefined {
    const free = [...this.#workers].filter(({ ready, asked }) => ready && asked.size < limit)
    return free.sort((a, b) => a.asked.size - b.asked.size)[0]
  }

  #heard(worker: Worker, message: Message): void {
    // One that was released may still have had its last word under way.
    if (!this.#workers.has(worker)) return
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

  #answered(job: Job, at: number, message: Extract<Message, { number: number }>): void {
    if (message.kind === 'problem') {
      this.#settle(job, new CadreError('INTERNAL', `The embedding model failed on a text: ${message.problem}`))
    } else {
      job.answer(at, message.vector)
      if (job.left === 0) this.#settle(job)
    }
  }

  /** Only those whose texts it had fail with it; where it never came up, all do, since another would fare no better. */
  #lost(worker: Worker, problem: string): void {
    if (!this.#workers.delete(worker)) return
    this.#options.logger.warn({ problem, texts: worker.asked.size }, 'an embedding worker is lost')
    if (worker.ready) {
      const failure = new LostWorker('INTERNAL', `The embedding worker that had this text is lost: ${problem}.`, {
        hint: 'Another one takes its place; try again.',
      })
      for (const { job } of worker.asked.values()) this.#settle(job, failure)
      if (this.#jobs.size > 0) this.#work()
    } else if (this.#workers.size === 0) {
      const hint = 'Install Cadre again; from source, run npm run build.'
      this.#settleAll(new CadreError('UNAVAILABLE', `The embedding model cannot be loaded: ${problem}`, { hint }))
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
    for (const { child } of this.#workers) letGo(child)
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      this.#options.logger.debug({ workers: this.#workers.size }, 'embedding workers released')
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
