/** Recognises scanned pages in processes, within limits of time and memory. */
import { availableParallelism } from 'node:os'
import { scaleTimeout } from '../../../src/deadline.ts'
import { startProcess, type WorkerHandle } from '../../workers/start-worker.ts'
import { WorkerError, type WorkerProblem } from '../../workers/worker-error.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import type { WorkerPoolLogger } from '../../workers/worker-pool-options.ts'
import { BACKGROUND_ARGUMENT, type LanguageFile, type RecognitionTask, type RecognizedPage } from './recognized-page.ts'

/** Recognises pages, which are handed over one by one. A page that cannot be recognised has a problem. */
export interface PageRecognizer {
  recognize(task: RecognitionTask, onPage: OnPage, options: RecognitionOptions): Promise<void>
  /** Throws if the data of a language cannot be used. */
  verify(languages: readonly LanguageFile[], signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

type OnPage = (page: RecognizedPage) => Promise<void>
/** Whether somebody waits for the text. */
type Urgency = 'background' | 'awaited'
interface RecognitionOptions {
  signal: AbortSignal
  /** Default: background. */
  urgency?: Urgency
}
type Pool = WorkerPool<RecognitionTask, undefined, RecognizedPage>

const WORKER = { built: 'dist/daemon/knowledge/recognition-worker.js', source: new URL('recognition-worker.ts', import.meta.url) }
/** Decoding a photo takes 118 MB and eight bytes per pixel, of which there are at most 51 million. */
const MEMORY_MB = 544
/** A page takes about two seconds of CPU time; with the lowest priority on a busy machine, minutes. */
const TIMEOUT_MS = 600_000
/** The process frees the memory of rendered pages after each job. */
const PAGES_PER_JOB = 10

export class RecognitionPool implements PageRecognizer {
  /** A process cannot raise its priority again, so that each urgency has processes of its own. */
  readonly #pools: Record<Urgency, Pool>

  /** @param start starts a process with these arguments */
  constructor(logger: WorkerPoolLogger, start: (args: readonly string[]) => WorkerHandle = startRecognition) {
    const createPool = (size: number, args: readonly string[]): Pool =>
      new WorkerPool({
        name: 'text recognition',
        size,
        start: () => start(args),
        timeoutMs: scaleTimeout(TIMEOUT_MS),
        idleMs: 30_000,
        maxQueued: 100,
        logger,
      })
    this.#pools = {
      background: createPool(Math.min(Math.ceil(availableParallelism() / 4), 4), [BACKGROUND_ARGUMENT]),
      awaited: createPool(1, []),
    }
  }

  async recognize(task: RecognitionTask, onPage: OnPage, { signal, urgency = 'background' }: RecognitionOptions): Promise<void> {
    for (let rest = [...task.pages]; rest.length > 0; ) {
      const batch = rest.slice(0, PAGES_PER_JOB)
      const done = new Set<number>()
      let stored = Promise.resolve()
      const onPart = (page: RecognizedPage) => {
        done.add(page.page)
        stored = onPage(page)
        return stored
      }
      try {
        await this.#pools[urgency].run({ ...task, pages: batch }, { onPart, signal })
        for (const page of batch) done.add(page)
      } catch (error) {
        if (!(error instanceof WorkerError)) throw error
        const problem = PAGE_PROBLEMS[error.problem]?.(error.detail)
        if (problem === undefined) throw error
        // The process may have ended when it had handed over its last page.
        await stored
        const failed = batch.find((page) => !done.has(page))
        // A process may exceed its limit with one page and end during the next, which is then tried again in another process.
        const isSuspect = failed === batch[0] || (error.problem !== 'memory' && error.problem !== 'lost')
        // The other pages may be fine.
        if (failed !== undefined && isSuspect) await onPart({ page: failed, text: '', confidence: 0, problem })
      }
      rest = rest.filter((page) => !done.has(page))
    }
  }

  async verify(languages: readonly LanguageFile[], signal: AbortSignal): Promise<void> {
    await this.#pools.awaited.run({ content: new Uint8Array(), pages: [], languages }, { signal })
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close()))
  }
}

const startRecognition = (args: readonly string[]) => startProcess(WORKER, { memoryMb: MEMORY_MB, args })

/** Problems whose cause is the page. */
const PAGE_PROBLEMS: Partial<Record<WorkerProblem, (detail: string) => string>> = {
  failed: (detail) => `The document is damaged (${detail}).`,
  timeout: (detail) => `Text recognition took longer than ${Number(detail) / 1000} s.`,
  memory: (detail) => `Text recognition needed more memory than ${detail} MB.`,
  lost: () => 'The page cannot be rendered; it may be damaged.',
}
