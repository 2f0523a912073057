/** Reads documents in threads of their own, within limits of time and memory: whatever a document does, the daemon goes on. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../../process/package-folder.ts'
import type { ChunkSettings } from '../chunking/chunker.ts'
import { DocumentReadError, type ParsedDocument } from '../readers/parsed-document.ts'
import type { Answer, ChunkedDocument, Question } from './parser-protocol.ts'

export interface ReadingOptions {
  /** Threads at most. */
  workers?: number
  /** Longest that one document may take. */
  timeoutMs?: number
  /** Most memory that one thread may use. */
  memoryMb?: number
  /** After so long without work the threads end and give their memory back. */
  idleMs?: number
}

interface Job {
  question: Extract<Question, { kind: 'read' }>
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

export class Reading {
  readonly #workers: number
  readonly #timeoutMs: number
  readonly #memoryMb: number
  readonly #idleMs: number
  readonly #threads = new Set<Thread>()
  #queue: Job[] = []
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor({ workers, timeoutMs = 60_000, memoryMb = 512, idleMs = 30_000 }: ReadingOptions = {}) {
    this.#workers = workers ?? Math.min(availableParallelism(), 2)
    this.#timeoutMs = timeoutMs
    this.#memoryMb = memoryMb
    this.#idleMs = idleMs
  }

  /** The text of a document. The bytes are handed over to the thread where they can be: do not use them afterwards. */
  read(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<ParsedDocument> {
    return this.#ask(bytes, name, undefined, signal) as Promise<ParsedDocument>
  }

  /** The passages of a document, one list a setting, cut in the thread that read it. The bytes are handed over as by `read`. */
  readAndChunk(bytes: Uint8Array, name: string, settings: ChunkSettings[], signal?: AbortSignal): Promise<ChunkedDocument> {
    return this.#ask(bytes, name, settings, signal) as Promise<ChunkedDocument>
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of this.#queue.splice(0)) job.reject(new Error('The daemon is stopping.'))
    await this.#release()
  }

  async #ask(
    bytes: Uint8Array,
    name: string,
    settings: ChunkSettings[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ParsedDocument | ChunkedDocument> {
    signal?.throwIfAborted()
    if (this.#closed) throw new Error('The daemon is stopping.')
    const { promise, resolve, reject } = deferred<ParsedDocument | ChunkedDocument>()
    const result = { document: { pages: null, title: null, characters: 0 }, chunks: (settings ?? []).map(() => []) }
    const job: Job = { question: { kind: 'read', bytes, name, settings }, result, signal, resolve, reject }
    const abort = () => this.#abort(job)
    signal?.addEventListener('abort', abort, { once: true })
    this.#queue.push(job)
    this.#work()
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #work(): void {
    clearTimeout(this.#idle)
    while (this.#threads.size < Math.min(this.#workers, this.#queue.length + this.#busy)) this.#start()
    for (const thread of this.#threads) {
      if (!thread.ready || thread.job) continue
      const job = this.#queue.shift()
      if (!job) break
      this.#give(thread, job)
    }
    if (this.#busy === 0 && this.#queue.length === 0) this.#rest()
  }

  get #busy(): number {
    return [...this.#threads].filter(({ job }) => job).length
  }

  #give(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    thread.timer = setTimeout(
      () => this.#fail(thread, new DocumentReadError(`Reading took longer than ${this.#timeoutMs / 1000} s.`)),
      this.#timeoutMs,
    )
    const { bytes } = job.question
    // A view of a larger buffer, such as Node's pool of small ones, is not ours to give away.
    const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
    const own = whole ? new Uint8Array(bytes.buffer as ArrayBuffer) : new Uint8Array(bytes)
    thread.worker.postMessage({ ...job.question, bytes: own } satisfies Question, [own.buffer])
  }

  #start(): void {
    const worker = new Worker(workerEntry(), {
      name: 'reading',
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    const thread: Thread = { worker, ready: false, job: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (answer: Answer) => this.#heard(thread, answer))
    worker.on('error', (error) => this.#broke(thread, error))
    worker.on('exit', (code) => this.#broke(thread, new Error(`The reading thread exited with ${code}.`)))
  }

  #heard(thread: Thread, answer: Answer): void {
    if (!this.#threads.has(thread)) return
    const job = thread.job
    if (answer.kind === 'ready') {
      thread.ready = true
      this.#work()
    } else if (!job) return
    else if (answer.kind === 'text') this.#done(thread, () => job.resolve(answer.document))
    else if (answer.kind === 'failure') this.#done(thread, () => job.reject(new DocumentReadError(answer.reason)))
    else this.#gather(thread, job, answer)
  }

  /** Chunks come in portions, and the loop does other things in between. */
  #gather(thread: Thread, job: Job, answer: Extract<Answer, { kind: 'cut' | 'chunks' }>): void {
    if (answer.kind === 'cut') job.result.document = answer.document
    else for (const chunk of answer.chunks) job.result.chunks[answer.setting]?.push(chunk)
    const more = answer.kind === 'cut' ? job.result.chunks.length > 0 : answer.more
    if (!more) this.#done(thread, () => job.resolve(job.result))
    else setImmediate(() => thread.worker.postMessage({ kind: 'next' } satisfies Question))
  }

  #done(thread: Thread, settle: () => void): void {
    clearTimeout(thread.timer)
    thread.job = undefined
    thread.worker.unref()
    settle()
    this.#work()
  }

  /** Ends a thread that cannot be stopped otherwise; the next document gets a new one. */
  #fail(thread: Thread, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    thread.job?.reject(reason)
    this.#work()
  }

  #broke(thread: Thread, error: Error): void {
    const outOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    if (!this.#threads.has(thread)) return
    // A thread that never came up would not the next time either.
    if (!thread.ready)
      for (const job of this.#queue.splice(0)) job.reject(new Error(`Documents cannot be read: ${error.message}`, { cause: error }))
    this.#fail(
      thread,
      new DocumentReadError(
        outOfMemory ? `Reading needed more memory than ${this.#memoryMb} MB.` : `The document cannot be read (${error.message}).`,
      ),
    )
  }

  #abort(job: Job): void {
    const thread = [...this.#threads].find((one) => one.job === job)
    this.#queue = this.#queue.filter((one) => one !== job)
    if (thread) this.#fail(thread, job.signal?.reason)
    else job.reject(job.signal?.reason)
  }

  #rest(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#release(), this.#idleMs).unref()
  }

  async #release(): Promise<void> {
    clearTimeout(this.#idle)
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
function workerEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('dist/daemon/knowledge/parser-worker.js', packageFolder())
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('parser-worker.ts', import.meta.url).href].map((address) =>
    JSON.stringify(address),
  )
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}
