/** Pool of worker threads that read and chunk documents within limits of time and memory. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { getWorkerUrl } from '../../process/worker-url.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import type { DocumentText, LineRange, OnPassages, ParserCommand, ParserEvent } from './parser-protocol.ts'

interface ParserPoolOptions {
  /** Maximum number of threads. */
  threads?: number
  /** Time limit for reading a document, and for each batch of its passages. */
  timeoutMs?: number
  /** Heap limit of one thread. */
  memoryMb?: number
  /** Threads end after this time without work. */
  idleMs?: number
}

/** A thread that read a larger document ends: it would keep the memory. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

type JobCommand = Extract<ParserCommand, { kind: 'parse' | 'read' }>

interface Job {
  command: JobCommand
  /** In bytes. */
  size: number
  pages: number | null
  onPassages: OnPassages
  signal: AbortSignal | undefined
  /** Called with the number of pages, or with the lines of a document. */
  resolve(result: number | null | DocumentText): void
  reject(reason: unknown): void
}

interface Thread {
  worker: Worker
  ready: boolean
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

export class ParserPool {
  readonly #options: Required<ParserPoolOptions>
  readonly #threads = new Set<Thread>()
  #queue: Job[] = []
  #idleTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ParserPoolOptions = {}) {
    this.#options = { threads: Math.min(availableParallelism(), 2), timeoutMs: 60_000, memoryMb: 512, idleMs: 30_000, ...options }
  }

  /**
   * Reads and chunks a document, and returns its number of pages. The bytes may be transferred to the thread: do not use them
   * afterwards. A document can fail after some of its passages were received.
   */
  async parse(
    bytes: Uint8Array,
    name: string,
    settings: ChunkingSettings[],
    onPassages: OnPassages,
    signal?: AbortSignal,
  ): Promise<number | null> {
    return (await this.#run({ kind: 'parse', bytes, name, settings }, onPassages, signal)) as number | null
  }

  /** Reads lines of a document. The bytes may be transferred to the thread: do not use them afterwards. */
  async read(bytes: Uint8Array, name: string, range: LineRange, signal?: AbortSignal): Promise<DocumentText> {
    return (await this.#run({ kind: 'read', bytes, name, range }, async () => {}, signal)) as DocumentText
  }

  async #run(command: JobCommand, onPassages: OnPassages, signal: AbortSignal | undefined): Promise<number | null | DocumentText> {
    signal?.throwIfAborted()
    if (this.#closed) throw new Error('The daemon is stopping.')
    let cancel = () => {}
    try {
      return await new Promise((resolve, reject) => {
        const job: Job = { command, size: command.bytes.length, pages: null, onPassages, signal, resolve, reject }
        cancel = () => this.#cancel(job)
        signal?.addEventListener('abort', cancel, { once: true })
        this.#queue.push(job)
        this.#dispatch()
      })
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of this.#queue.splice(0)) job.reject(new Error('The daemon is stopping.'))
    await this.#stopThreads()
  }

  #dispatch(): void {
    clearTimeout(this.#idleTimer)
    while (this.#threads.size < Math.min(this.#options.threads, this.#queue.length + this.#busyCount)) this.#startThread()
    for (const thread of this.#threads) {
      if (!thread.ready || thread.job) continue
      const job = this.#queue.shift()
      if (!job) break
      this.#assign(thread, job)
    }
    if (this.#busyCount === 0 && this.#queue.length === 0)
      this.#idleTimer = setTimeout(() => void this.#stopThreads(), this.#options.idleMs).unref()
  }

  get #busyCount(): number {
    return [...this.#threads].filter(({ job }) => job).length
  }

  #assign(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    this.#startTimer(thread)
    const { bytes } = job.command
    // A view of a larger buffer, such as Node's pool for small buffers, is copied: transferring it would detach the rest.
    const isWholeBuffer = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
    const transferable = isWholeBuffer ? new Uint8Array(bytes.buffer as ArrayBuffer) : new Uint8Array(bytes)
    thread.worker.postMessage({ ...job.command, bytes: transferable } satisfies ParserCommand, [transferable.buffer])
  }

  #startTimer(thread: Thread): void {
    const timeout = new DocumentReadError(`Reading took longer than ${this.#options.timeoutMs / 1000} s.`)
    thread.timer = setTimeout(() => this.#terminate(thread, timeout), this.#options.timeoutMs)
  }

  #startThread(): void {
    const worker = new Worker(getWorkerUrl('dist/daemon/knowledge/parser-worker.js', new URL('parser-worker.ts', import.meta.url)), {
      name: 'parser',
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    const thread: Thread = { worker, ready: false, job: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (event: ParserEvent) => this.#handleEvent(thread, event))
    worker.on('error', (error) => this.#handleCrash(thread, error))
    worker.on('exit', (code) => this.#handleCrash(thread, new Error(`The parser thread exited with code ${code}.`)))
  }

  #handleEvent(thread: Thread, event: ParserEvent): void {
    if (!this.#threads.has(thread)) return
    const job = thread.job
    if (event.kind === 'ready') {
      thread.ready = true
      this.#dispatch()
      return
    }
    if (!job) return
    clearTimeout(thread.timer)
    if (event.kind === 'failure') this.#complete(thread, () => job.reject(new DocumentReadError(event.reason)))
    else if (event.kind === 'text') this.#complete(thread, () => job.resolve(event.result))
    else if (event.kind === 'end') this.#complete(thread, () => job.resolve(job.pages))
    else void this.#receive(thread, job, event)
  }

  /** Requests the next batch with setImmediate so that the event loop handles other work between batches. */
  async #receive(thread: Thread, job: Job, event: Extract<ParserEvent, { kind: 'chunked' | 'passages' }>): Promise<void> {
    try {
      if (event.kind === 'chunked') job.pages = event.pages
      else await job.onPassages(event.setting, event.passages)
    } catch (error) {
      this.#terminate(thread, error)
      return
    }
    setImmediate(() => {
      if (thread.job !== job || !this.#threads.has(thread)) return
      this.#startTimer(thread)
      thread.worker.postMessage({ kind: 'next' } satisfies ParserCommand)
    })
  }

  #complete(thread: Thread, settle: () => void): void {
    clearTimeout(thread.timer)
    const size = thread.job?.size ?? 0
    thread.job = undefined
    thread.worker.unref()
    settle()
    if (size > MAX_KEPT_BYTES && this.#threads.delete(thread)) void thread.worker.terminate()
    this.#dispatch()
  }

  /** A busy thread can only be stopped by terminating it; the next document gets a new one. */
  #terminate(thread: Thread, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    thread.job?.reject(reason)
    this.#dispatch()
  }

  #handleCrash(thread: Thread, error: Error): void {
    if (!this.#threads.has(thread)) return
    // If one thread cannot start, none can.
    if (!thread.ready)
      for (const job of this.#queue.splice(0)) job.reject(new Error(`Documents cannot be read: ${error.message}`, { cause: error }))
    const isOutOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    const reason = isOutOfMemory
      ? `Reading needed more memory than ${this.#options.memoryMb} MB.`
      : `The document cannot be read (${error.message}).`
    this.#terminate(thread, new DocumentReadError(reason))
  }

  #cancel(job: Job): void {
    const thread = [...this.#threads].find((candidate) => candidate.job === job)
    this.#queue = this.#queue.filter((queued) => queued !== job)
    if (thread) this.#terminate(thread, job.signal?.reason)
    else job.reject(job.signal?.reason)
  }

  async #stopThreads(): Promise<void> {
    clearTimeout(this.#idleTimer)
    const threads = [...this.#threads]
    this.#threads.clear()
    for (const { timer, job } of threads) {
      clearTimeout(timer)
      job?.reject(new Error('The daemon is stopping.'))
    }
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }
}
