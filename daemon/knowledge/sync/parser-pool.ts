/** Reads documents in threads of their own, within limits of time and memory: whatever a document does, the daemon goes on. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../../process/package-folder.ts'
import type { ChunkingSettings } from '../chunking/chunk-document.ts'
import { DocumentReadError, type ParsedDocument } from '../readers/parsed-document.ts'
import type { ChunkedDocument, ParserCommand, ParserEvent } from './parser-protocol.ts'

export interface ParserPoolOptions {
  /** Threads at most. */
  threads?: number
  /** Longest that one document may take. */
  timeoutMs?: number
  /** Most memory that one thread may use. */
  memoryMb?: number
  /** After so long without work the threads end and give their memory back. */
  idleMs?: number
}

interface Job {
  command: Extract<ParserCommand, { kind: 'read' }>
  result: ChunkedDocument
  signal: AbortSignal | undefined
  resolve(result: ParsedDocument | ChunkedDocument): void
  reject(reason: unknown): void
}

interface Thread {
  worker: Worker
  ready: boolean
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

export class ParserPool {
  readonly #maxThreads: number
  readonly #timeoutMs: number
  readonly #memoryMb: number
  readonly #idleMs: number
  readonly #threads = new Set<Thread>()
  #queue: Job[] = []
  #idleTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor({ threads: workers, timeoutMs = 60_000, memoryMb = 512, idleMs = 30_000 }: ParserPoolOptions = {}) {
    this.#maxThreads = workers ?? Math.min(availableParallelism(), 2)
    this.#timeoutMs = timeoutMs
    this.#memoryMb = memoryMb
    this.#idleMs = idleMs
  }

  /** The text of a document. The bytes are handed over to the thread where they can be: do not use them afterwards. */
  read(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<ParsedDocument> {
    return this.#enqueue(bytes, name, undefined, signal) as Promise<ParsedDocument>
  }

  /** The passages of a document, one list a setting, cut in the thread that read it. The bytes are handed over as by `read`. */
  readAndChunk(bytes: Uint8Array, name: string, settings: ChunkingSettings[], signal?: AbortSignal): Promise<ChunkedDocument> {
    return this.#enqueue(bytes, name, settings, signal) as Promise<ChunkedDocument>
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of this.#queue.splice(0)) job.reject(new Error('The daemon is stopping.'))
    await this.#stopThreads()
  }

  async #enqueue(
    bytes: Uint8Array,
    name: string,
    settings: ChunkingSettings[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ParsedDocument | ChunkedDocument> {
    signal?.throwIfAborted()
    if (this.#closed) throw new Error('The daemon is stopping.')
    const { promise, resolve, reject } = deferred<ParsedDocument | ChunkedDocument>()
    const result = { document: { pages: null, title: null, characters: 0 }, chunks: (settings ?? []).map(() => []) }
    const job: Job = { command: { kind: 'read', bytes, name, settings }, result, signal, resolve, reject }
    const cancel = () => this.#abort(job)
    signal?.addEventListener('abort', cancel, { once: true })
    this.#queue.push(job)
    this.#dispatch()
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  #dispatch(): void {
    clearTimeout(this.#idleTimer)
    while (this.#threads.size < Math.min(this.#maxThreads, this.#queue.length + this.#busy)) this.#startThread()
    for (const thread of this.#threads) {
      if (!thread.ready || thread.job) continue
      const job = this.#queue.shift()
      if (!job) break
      this.#assign(thread, job)
    }
    if (this.#busy === 0 && this.#queue.length === 0) this.#scheduleIdleStop()
  }

  get #busy(): number {
    return [...this.#threads].filter(({ job }) => job).length
  }

  #assign(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    thread.timer = setTimeout(
      () => this.#terminate(thread, new DocumentReadError(`Reading took longer than ${this.#timeoutMs / 1000} s.`)),
      this.#timeoutMs,
    )
    const { bytes } = job.command
    // A view of a larger buffer, such as Node's pool of small ones, is not ours to give away.
    const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
    const own = whole ? new Uint8Array(bytes.buffer as ArrayBuffer) : new Uint8Array(bytes)
    thread.worker.postMessage({ ...job.command, bytes: own } satisfies ParserCommand, [own.buffer])
  }

  #startThread(): void {
    const worker = new Worker(getWorkerUrl(), {
      name: 'reading',
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    const thread: Thread = { worker, ready: false, job: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (answer: ParserEvent) => this.#handleEvent(thread, answer))
    worker.on('error', (error) => this.#handleCrash(thread, error))
    worker.on('exit', (code) => this.#handleCrash(thread, new Error(`The reading thread exited with ${code}.`)))
  }

  #handleEvent(thread: Thread, answer: ParserEvent): void {
    if (!this.#threads.has(thread)) return
    const job = thread.job
    if (answer.kind === 'ready') {
      thread.ready = true
      this.#dispatch()
    } else if (!job) return
    else if (answer.kind === 'text') this.#complete(thread, () => job.resolve(answer.document))
    else if (answer.kind === 'failure') this.#complete(thread, () => job.reject(new DocumentReadError(answer.reason)))
    else this.#collectPassages(thread, job, answer)
  }

  /** Chunks come in portions, and the loop does other things in between. */
  #collectPassages(thread: Thread, job: Job, answer: Extract<ParserEvent, { kind: 'cut' | 'chunks' }>): void {
    if (answer.kind === 'cut') job.result.document = answer.document
    else for (const chunk of answer.chunks) job.result.passages[answer.setting]?.push(chunk)
    const more = answer.kind === 'cut' ? job.result.passages.length > 0 : answer.more
    if (!more) this.#complete(thread, () => job.resolve(job.result))
    else setImmediate(() => thread.worker.postMessage({ kind: 'next' } satisfies ParserCommand))
  }

  #complete(thread: Thread, settle: () => void): void {
    clearTimeout(thread.timer)
    thread.job = undefined
    thread.worker.unref()
    settle()
    this.#dispatch()
  }

  /** Ends a thread that cannot be stopped otherwise; the next document gets a new one. */
  #terminate(thread: Thread, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    thread.job?.reject(reason)
    this.#dispatch()
  }

  #handleCrash(thread: Thread, error: Error): void {
    const outOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    if (!this.#threads.has(thread)) return
    // A thread that never came up would not the next time either.
    if (!thread.ready)
      for (const job of this.#queue.splice(0)) job.reject(new Error(`Documents cannot be read: ${error.message}`, { cause: error }))
    this.#terminate(
      thread,
      new DocumentReadError(
        outOfMemory ? `Reading needed more memory than ${this.#memoryMb} MB.` : `The document cannot be read (${error.message}).`,
      ),
    )
  }

  #abort(job: Job): void {
    const thread = [...this.#threads].find((one) => one.job === job)
    this.#queue = this.#queue.filter((one) => one !== job)
    if (thread) this.#terminate(thread, job.signal?.reason)
    else job.reject(job.signal?.reason)
  }

  #scheduleIdleStop(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => void this.#stopThreads(), this.#idleMs).unref()
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

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** What a thread starts with. From source that is TypeScript, which tsx must be told to read in every thread anew: Node 20 hands loaders down to none. */
function getWorkerUrl(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('dist/daemon/knowledge/parser-worker.js', packageFolder())
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('parser-worker.ts', import.meta.url).href].map((address) =>
    JSON.stringify(address),
  )
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}
