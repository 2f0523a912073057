/** Matches regular expressions of users in worker threads, which are terminated on a timeout. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CadreError } from '../../src/contract/errors.ts'
import { Semaphore } from '../async/semaphore.ts'
import type { ScorerTools } from './scorers.ts'

/** A backtracking pattern occupies a whole core until its timeout. */
const MAX_THREADS = 2
const MATCH_TIMEOUT_MS = 3_000
/** After this many timed-out patterns, a run reduces the timeout of the others. */
const MAX_FULL_TIMEOUTS = 10
const REDUCED_TIMEOUT_MS = 300

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

export class PatternMatcher {
  readonly #idleWorkers: Worker[] = []
  readonly #semaphore = new Semaphore(MAX_THREADS)
  readonly #timeoutMs: number

  constructor(timeoutMs = MATCH_TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs
  }

  /** For one run: a pattern that timed out is not tried again. Aborting the signal ends waiting and running matches. */
  createRunMatcher(signal: AbortSignal): ScorerTools['matchPattern'] {
    const timedOut = new Set<string>()
    return async (pattern, text) => {
      const release = await this.#semaphore.acquire()
      try {
        signal.throwIfAborted()
        if (timedOut.has(pattern)) throw createTimeoutError('The pattern timed out on another answer of this run and was not tried again.')
        const timeoutMs = timedOut.size < MAX_FULL_TIMEOUTS ? this.#timeoutMs : REDUCED_TIMEOUT_MS
        const found = await this.#match({ pattern, text }, timeoutMs, signal)
        if (found !== undefined) return found
        signal.throwIfAborted()
        timedOut.add(pattern)
        throw createTimeoutError(`The pattern took longer than ${timeoutMs / 1000} seconds on this answer.`)
      } finally {
        release()
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idleWorkers.splice(0).map((worker) => worker.terminate()))
  }

  /** Returns undefined on a timeout. */
  async #match(attempt: { pattern: string; text: string }, timeoutMs: number, signal: AbortSignal): Promise<boolean | undefined> {
    const worker = this.#idleWorkers.pop() ?? (await startWorker())
    // The run may have been stopped while the worker started.
    if (signal.aborted) {
      this.#idleWorkers.push(worker)
      return undefined
    }
    // The start of the worker does not count towards the timeout.
    const controller = new AbortController()
    const abort = () => controller.abort()
    const timer = setTimeout(abort, timeoutMs)
    signal.addEventListener('abort', abort, { once: true })
    worker.postMessage(attempt)
    const response = await (once(worker, 'message', { signal: controller.signal }) as Promise<[WorkerResponse]>).then(
      ([message]) => message,
      () => undefined, // timeout, abort or a crashed worker, which is replaced
    )
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    if (!response) await worker.terminate()
    else this.#idleWorkers.push(worker)
    if (response?.problem !== undefined) throw new CadreError('VALIDATION_ERROR', `Invalid pattern: ${response.problem}`)
    return response?.found
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
    hint: 'Avoid nested quantifiers such as (a+)+, which cause catastrophic backtracking.',
  })
