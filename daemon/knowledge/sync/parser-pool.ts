/** Reads and chunks documents in two processes, within limits of time and memory. */
import { scaleTimeout } from '../../../src/deadline.ts'
import { raceAbort } from '../../async/abortable.ts'
import type { Clock } from '../../async/clock.ts'
import { Semaphore } from '../../async/semaphore.ts'
import type { OriginalContent } from '../../store/original-store.ts'
import { startProcess } from '../../workers/start-worker.ts'
import { WorkerError, type WorkerProblem } from '../../workers/worker-error.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import type { JobOptions, WorkerPoolLogger } from '../../workers/worker-pool-options.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'
import type { EarlierMails, MemberSelection } from '../readers/containers/expand-container.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import type {
  DocumentSummary,
  DocumentTask,
  DocumentText,
  LineRange,
  OnDocuments,
  OnPassages,
  ParserPart,
  ParserResult,
  ParserTask,
} from './parser-task.ts'

/** A document or container. Its bytes are read when a process is about to need them, because many documents may wait. */
export interface ParserInput extends Omit<DocumentTask, 'content'> {
  /** In bytes. */
  size: number
  read(): Promise<OriginalContent>
}

interface ParserPoolOptions {
  /** Time limit for reading a document, and for each batch of its passages. */
  timeoutMs?: number
  /** Memory limit of the process for small documents. */
  smallMemoryMb?: number
  /** Memory limit of the process for large documents, and for small ones that need more than the other process has. */
  memoryMb?: number
  /** Processes end after this time without work. */
  idleMs?: number
  logger?: WorkerPoolLogger
  clock?: Clock
}

type Pool = WorkerPool<ParserTask, ParserResult, ParserPart>

const WORKER = { built: 'dist/daemon/knowledge/parser-worker.js', source: new URL('parser-worker.ts', import.meta.url) }
/** The two limits and the daemon are below 700 MB together (docs/promises.md, hostile-documents). */
const SMALL_MEMORY_MB = 160
const MEMORY_MB = 352
const MAX_SMALL_BYTES = 1024 * 1024
/** A process that read a larger document ends: it would keep the memory. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024
const MAX_QUEUED = 1_000
/** The process for large documents reads further small ones. */
const MAX_WAITING = 2

interface SelectedMembers {
  selection: MemberSelection
  /** Only for the rest of a mailbox. */
  earlier?: EarlierMails | undefined
}

export class ParserPool {
  readonly #small: Pool
  readonly #large: Pool
  /** One large document is in memory for a sync, and one for somebody who waits. */
  readonly #largeReads: Record<'high' | 'normal', Semaphore> = { high: new Semaphore(1), normal: new Semaphore(1) }
  /** Documents of each process, also those whose bytes are still being loaded. */
  readonly #counts = { small: 0, large: 0 }

  constructor({ smallMemoryMb = SMALL_MEMORY_MB, memoryMb = MEMORY_MB, ...options }: ParserPoolOptions = {}) {
    const createPool = (limitMb: number): Pool =>
      new WorkerPool({
        name: 'document parser',
        size: 1,
        start: () => startProcess(WORKER, { memoryMb: limitMb, isBackground: true }),
        timeoutMs: scaleTimeout(60_000),
        idleMs: 30_000,
        maxQueued: MAX_QUEUED,
        ...options,
      })
    this.#small = createPool(smallMemoryMb)
    this.#large = createPool(memoryMb)
  }

  /** Starts the processes for this many documents, which are about to come. */
  warmUp(documentCount: number): void {
    this.#small.warmUp(documentCount)
    if (documentCount > MAX_WAITING) this.#large.warmUp(documentCount)
  }

  /**
   * Reads and chunks a document, and returns its summary. A document can fail after some of its passages were received.
   * @param onRestart called when the document is read again from its start, because it needs more memory
   */
  async parse(
    input: ParserInput,
    settings: ChunkingSettings[],
    { onPassages, onRestart }: { onPassages: OnPassages; onRestart(): Promise<void> },
    signal?: AbortSignal,
  ): Promise<DocumentSummary> {
    const onPart = async (part: ParserPart) => {
      if ('passages' in part) await onPassages(part.setting, part.passages)
    }
    const result = await this.#run(input, (document) => ({ kind: 'parse', ...document, settings }), { onPart, signal }, onRestart)
    const { summary, last } = result as Extract<ParserResult, { kind: 'parsed' }>
    if (last) {
      const handled = onPassages(last.setting, last.passages)
      await (signal ? raceAbort(handled, signal) : handled)
    }
    return summary
  }

  async summarize(input: ParserInput, signal?: AbortSignal): Promise<DocumentSummary> {
    const result = await this.#run(input, (document) => ({ kind: 'summarize', ...document }), { priority: 'low', signal })
    return (result as Extract<ParserResult, { kind: 'parsed' }>).summary
  }

  /** Reads lines of a document. */
  async read(input: ParserInput, range: LineRange, signal?: AbortSignal): Promise<DocumentText> {
    const result = await this.#run(input, (document) => ({ kind: 'read', ...document, range }), { priority: 'high', signal })
    return (result as Extract<ParserResult, { kind: 'text' }>).text
  }

  /** Expands an archive, mailbox or mail into documents. A container can fail after some of its documents were received. */
  async expand(input: ParserInput, selected: SelectedMembers, onDocuments: OnDocuments, signal?: AbortSignal): Promise<void> {
    const onPart = async (part: ParserPart) => {
      if ('documents' in part) await onDocuments(part.documents)
    }
    // Members are stored as they arrive and cannot be taken back: there is no second attempt in the larger process.
    await this.#runLarge(input, ({ content, name }) => ({ kind: 'expand', content, name, ...selected }), { onPart, signal })
  }

  async close(): Promise<void> {
    await Promise.all([this.#small.close(), this.#large.close()])
  }

  /** A small document is read by either process, a large one, and a small one that needs much memory, by the larger. */
  async #run(input: ParserInput, createTask: CreateTask, options: JobOptions<ParserPart>, onRestart?: () => Promise<void>) {
    const isLarge = input.size > MAX_SMALL_BYTES || (this.#counts.small >= MAX_WAITING && this.#counts.large === 0)
    if (isLarge) return this.#runLarge(input, createTask, options)
    this.#counts.small++
    try {
      return await this.#small.run(createTask(await loadDocument(input)), options)
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error
      if (error.problem !== 'memory') throw toReadError(error)
    } finally {
      this.#counts.small--
    }
    await onRestart?.()
    return this.#runLarge(input, createTask, options)
  }

  async #runLarge(input: ParserInput, createTask: CreateTask, options: JobOptions<ParserPart>): Promise<ParserResult> {
    this.#counts.large++
    const endReading = await this.#largeReads[options.priority === 'high' ? 'high' : 'normal'].acquire()
    try {
      options.signal?.throwIfAborted()
      return await this.#large.run(createTask(await loadDocument(input)), { ...options, endsWorker: input.size > MAX_KEPT_BYTES })
    } catch (error) {
      throw error instanceof WorkerError ? toReadError(error) : error
    } finally {
      this.#counts.large--
      endReading()
    }
  }
}

type CreateTask = (document: DocumentTask) => ParserTask

const loadDocument = async ({ size: _, read, ...document }: ParserInput): Promise<DocumentTask> => ({ ...document, content: await read() })

/** Problems of the document itself are the reason why it cannot be read. */
const READ_PROBLEMS: Partial<Record<WorkerProblem, (detail: string) => string>> = {
  failed: (detail) => detail,
  timeout: (detail) => `Reading took longer than ${Number(detail) / 1000} s.`,
  memory: (detail) => `Reading needed more memory than ${detail} MB.`,
  lost: (detail) => `The document cannot be read (${detail}).`,
}

function toReadError(error: WorkerError): Error {
  const reason = READ_PROBLEMS[error.problem]?.(error.detail)
  return reason === undefined ? error : new DocumentReadError(reason)
}
