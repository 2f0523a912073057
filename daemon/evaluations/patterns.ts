/** Regular expressions that people bring, tried in a thread of their own: one that never ends is stopped, and nobody else waits for it. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CadreError } from '../../src/contract/errors.ts'

const LONGEST_MS = 3_000

/** Written out here, because it is all the thread ever does. */
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

export class Patterns {
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** One after the other: a thread tries one pattern at a time. A run that ends waits neither in line nor for its pattern. */
  async test(pattern: string, text: string, signal: AbortSignal): Promise<boolean> {
    const turn = this.#last.then(() => this.#try(pattern, text, signal))
    this.#last = turn.catch(() => undefined) // the caller hears of it; the next in line must not
    return turn
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  async #try(pattern: string, text: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    const worker = await this.#running()
    const ending = new AbortController()
    const end = () => ending.abort()
    const timer = setTimeout(end, LONGEST_MS)
    signal.addEventListener('abort', end, { once: true })
    const answered = once(worker, 'message', { signal: ending.signal }) as Promise<[Reply]>
    worker.postMessage({ pattern, text })
    const reply = await answered.then(
      ([told]) => told,
      () => undefined, // too slow, no longer wanted, or the thread broke: it is replaced
    )
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    if (reply?.found !== undefined) return reply.found
    if (reply?.problem !== undefined) throw new CadreError('VALIDATION_ERROR', `The pattern cannot be read: ${reply.problem}`)
    await this.close()
    signal.throwIfAborted()
    throw new CadreError('VALIDATION_ERROR', `The pattern took longer than ${LONGEST_MS / 1000} seconds on this answer.`, {
      hint: 'Patterns such as (a+)+ try every way to split a text; write it without a repeat inside a repeat.',
    })
  }

  /** The time that a thread takes to start is not the pattern's. */
  async #running(): Promise<Worker> {
    if (this.#worker) return this.#worker
    const worker = new Worker(THREAD, { eval: true, execArgv: [] })
    this.#worker = worker
    await once(worker, 'message')
    worker.unref()
    return worker
  }
}
