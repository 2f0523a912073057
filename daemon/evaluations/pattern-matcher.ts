/** Regular expressions that people bring, tried in threads of their own: one that never ends is stopped, and nobody else waits for it. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CadreError } from '../../src/contract/errors.ts'
import { Semaphore } from '../async/semaphore.ts'

/** Patterns tried at a time: one that never ends takes a whole core for as long as it may. */
const MAX_THREADS = 2
const MATCH_TIMEOUT_MS = 3_000
/** A run whose patterns ran out of time so often gives each of the others less. */
const MAX_FULL_TIMEOUTS = 10
const REDUCED_TIMEOUT_MS = 300

/** Written out here, because it is all a thread ever does. */
const WORKER_SOURCE = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ pattern, text }) => {
  try {
    parentPort.postMessage({ found: new RegExp(pattern, 'u').test(text) })
  } catch (error) {
    parentPort.postMessage({ problem: String(error.message) })
  }
})
parentPort.postMessage('ready')`

interface WorkerResponse {
  found?: boolean
  problem?: string
}

/** Tries the patterns of one run. */
export type MatchPattern = (pattern: string, text: string) => Promise<boolean>

export class PatternMatcher {
  readonly #idleWorkers: Worker[] = []
  readonly #semaphore = new Semaphore(MAX_THREADS)
  readonly #timeoutMs: number

  constructor(longest = MATCH_TIMEOUT_MS) {
    this.#timeoutMs = longest
  }

  /** A pattern that ran out of time is not tried again in the same run; a run that ends waits neither in line nor for its patterns. */
  createRunMatcher(signal: AbortSignal): MatchPattern {
    const slow = new Set<string>()
    return async (pattern, text) => {
      const done = await this.#semaphore.acquire()
      try {
        signal.throwIfAborted()
        if (slow.has(pattern)) throw createTimeoutError('The pattern took too long on another answer of this run, and was not tried again.')
        const most = slow.size < MAX_FULL_TIMEOUTS ? this.#timeoutMs : REDUCED_TIMEOUT_MS
        const found = await this.#match({ pattern, text }, most, signal)
        if (found !== undefined) return found
        signal.throwIfAborted()
        slow.add(pattern)
        throw createTimeoutError(`The pattern took longer than ${most / 1000} seconds on this answer.`)
      } finally {
        done()
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idleWorkers.splice(0).map((worker) => worker.terminate()))
  }

  /** Undefined where it was not done in time. */
  async #match(attempt: { pattern: string; text: string }, most: number, signal: AbortSignal): Promise<boolean | undefined> {
    const worker = this.#idleWorkers.pop() ?? (await startWorker())
    // While the thread started, which nobody could hear of.
    if (signal.aborted) {
      this.#idleWorkers.push(worker)
      return undefined
    }
    // From here on: the time that a thread takes to start is not the pattern's.
    const ending = new AbortController()
    const end = () => ending.abort()
    const timer = setTimeout(end, most)
    signal.addEventListener('abort', end, { once: true })
    worker.postMessage(attempt)
    const reply = await (once(worker, 'message', { signal: ending.signal }) as Promise<[WorkerResponse]>).then(
      ([told]) => told,
      () => undefined, // too slow, no longer wanted, or the thread broke: it is replaced
    )
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    if (!reply) await worker.terminate()
    else this.#idleWorkers.push(worker)
    if (reply?.problem !== undefined) throw new CadreError('VALIDATION_ERROR', `The pattern cannot be read: ${reply.problem}`)
    return reply?.found
  }
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(WORKER_SOURCE, { eval: true, execArgv: [] })
  await once(worker, 'message')
  worker.unref()
  return worker
}

const createTimeoutError = (problem: string): CadreError =>
  new CadreError('VALIDATION_ERROR', problem, {
    hint: 'Patterns such as (a+)+ try every way to split a text; write it without a repeat inside a repeat.',
  })
