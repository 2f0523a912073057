/** Matches regular expressions of users in worker threads, which are terminated on a timeout. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Clock } from '../../async/clock.ts'
import { Semaphore } from '../../async/semaphore.ts'
import { startThread } from '../../workers/start-worker.ts'
import { WorkerError } from '../../workers/worker-error.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import type { ScorerTools } from '../scorers.ts'
import type { MatchTask } from './pattern-worker.ts'

const WORKER = { built: 'dist/daemon/evaluations/pattern-worker.js', source: new URL('pattern-worker.ts', import.meta.url) }
/** A backtracking pattern occupies a whole core until its timeout. */
const MAX_THREADS = 2
const MAX_MEMORY_MB = 64
const MATCH_TIMEOUT_MS = 3_000
/** After this many timed-out patterns, a run reduces the timeout of the others. */
const MAX_FULL_TIMEOUTS = 10
const REDUCED_TIMEOUT_MS = 300

export class PatternMatcher {
  readonly #pool: WorkerPool<MatchTask, boolean>
  /** A pattern waits here and not in the pool, because it is not tried if it times out meanwhile. */
  readonly #semaphore = new Semaphore(MAX_THREADS)

  constructor(clock?: Clock) {
    this.#pool = new WorkerPool({
      name: 'pattern matcher',
      size: MAX_THREADS,
      start: () => startThread(WORKER, { name: 'pattern', memoryMb: MAX_MEMORY_MB }),
      idleMs: 30_000,
      maxQueued: MAX_THREADS,
      clock,
    })
  }

  /** For one run: a pattern that timed out is not tried again. Aborting the signal ends waiting and running matches. */
  createRunMatcher(signal: AbortSignal): ScorerTools['matchPattern'] {
    const timedOut = new Set<string>()
    return async (pattern, text) => {
      const release = await this.#semaphore.acquire()
      try {
        signal.throwIfAborted()
        if (timedOut.has(pattern)) throw createTimeoutError('The pattern timed out on another answer of this run and was not tried again.')
        const timeoutMs = timedOut.size < MAX_FULL_TIMEOUTS ? MATCH_TIMEOUT_MS : REDUCED_TIMEOUT_MS
        return await this.#pool.run({ pattern, text }, { timeoutMs, signal })
      } catch (error) {
        if (!(error instanceof WorkerError)) throw error
        if (error.problem === 'failed') throw new CadreError('VALIDATION_ERROR', `Invalid pattern: ${error.detail}`)
        if (error.problem !== 'timeout') throw error
        timedOut.add(pattern)
        throw createTimeoutError(`The pattern took longer than ${Number(error.detail) / 1000} seconds on this answer.`)
      } finally {
        release()
      }
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

const createTimeoutError = (problem: string): CadreError =>
  new CadreError('VALIDATION_ERROR', problem, {
    hint: 'Avoid nested quantifiers such as (a+)+, which cause catastrophic backtracking.',
  })
