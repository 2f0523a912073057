/** Regular expressions that people bring, tried in threads of their own: one that never ends is stopped, and nobody else waits for it. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CadreError } from '../../src/contract/errors.ts'
import { Semaphore } from '../async/semaphore.ts'

/** Patterns tried at a time: one that never ends takes a whole core for as long as it may. */
const THREADS = 2
const LONGEST_MS = 3_000
/** A run whose patterns ran out of time so often gives each of the others less. */
const PATIENCE = 10
const SHORT_MS = 300

/** Written out here, because it is all a thread ever does. */
const THREAD = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ pattern, text }) => {
  try {
    parentPort.postMessage({ found: new RegExp(pattern, 'u').test(text) })
  } catch (error) {
    parentPort.postMessage({ problem: String(error.message) })
  }
})
parentPort.postMessage('ready')`

interface Reply {
  found?: boolean
  problem?: string
}

/** Tries the patterns of one run. */
export type PatternTest = (pattern: string, text: string) => Promise<boolean>

export class Patterns {
  readonly #idle: Worker[] = []
  readonly #line = new Semaphore(THREADS)
  readonly #longest: number

  constructor(longest = LONGEST_MS) {
    this.#longest = longest
  }

  /** A pattern that ran out of time is not tried again in the same run; a run that ends waits neither in line nor for its patterns. */
  ofRun(signal: AbortSignal): PatternTest {
    const slow = new Set<string>()
    return async (pattern, text) => {
      const done = await this.#line.acquire()
      try {
        signal.throwIfAborted()
        if (slow.has(pattern)) throw tooSlow('The pattern took too long on another answer of this run, and was not tried again.')
        const most = slow.size < PATIENCE ? this.#longest : SHORT_MS
        const found = await this.#tried({ pattern, text }, most, signal)
        if (found !== undefined) return found
        signal.throwIfAborted()
        slow.add(pattern)
        throw tooSlow(`The pattern took longer than ${most / 1000} seconds on this answer.`)
      } finally {
        done()
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((worker) => worker.terminate()))
  }

  /** Undefined where it was not done in time. */
  async #tried(attempt: { pattern: string; text: string }, most: number, signal: AbortSignal): Promise<boolean | undefined> {
    const worker = this.#idle.pop() ?? (await started())
    // While the thread started, which nobody could hear of.
    if (signal.aborted) {
      this.#idle.push(worker)
      return undefined
    }
    // From here on: the time that a thread takes to start is not the pattern's.
    const ending = new AbortController()
    const end = () => ending.abort()
    const timer = setTimeout(end, most)
    signal.addEventListener('abort', end, { once: true })
    worker.postMessage(attempt)
    const reply = await (once(worker, 'message', { signal: ending.signal }) as Promise<[Reply]>).then(
      ([told]) => told,
      () => undefined, // too slow, no longer wanted, or the thread broke: it is replaced
    )
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    if (!reply) await worker.terminate()
    else this.#idle.push(worker)
    if (reply?.problem !== undefined) throw new CadreError('VALIDATION_ERROR', `The pattern cannot be read: ${reply.problem}`)
    return reply?.found
  }
}

async function started(): Promise<Worker> {
  const worker = new Worker(THREAD, { eval: true, execArgv: [] })
  await once(worker, 'message')
  worker.unref()
  return worker
}

const tooSlow = (problem: string): CadreError =>
  new CadreError('VALIDATION_ERROR', problem, {
    hint: 'Patterns such as (a+)+ try every way to split a text; write it without a repeat inside a repeat.',
  })
