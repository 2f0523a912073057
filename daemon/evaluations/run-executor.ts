/** Executes evaluation runs in the background, with several test cases at a time, and resumes them after a restart. */
import { EventEmitter, setMaxListeners } from 'node:events'
import { CadreError } from '../../src/contract/errors.ts'
import { isOutage, repeatWhileUnavailable } from '../async/repeat-while-unavailable.ts'
import { type Acquire, Semaphore } from '../async/semaphore.ts'
import type { Meter, Settlement } from '../core/meter.ts'
import type { Shared } from '../shared-services.ts'
import { countResume, forgetResumes, listParkedJobs } from '../store/job-resumes.ts'
import { createResultWriter, type FinishedCase } from './result-writer.ts'
import {
  listFinishedCases,
  listUnfinishedRuns,
  type RunWithCases,
  type StoredRun,
  summarizeRun,
  type TestCase,
  updateRun,
} from './run-store.ts'
import { scoreAnswer } from './score-answer.ts'
import type { ScorerToolFactory } from './scorer-tool-factory.ts'
import type { ScorerTools } from './scorers.ts'
import type { AskTarget, Targets } from './targets.ts'

/** Further runs are queued. */
const MAX_ACTIVE_RUNS = 4

const PARKED_ERROR =
  'The daemon ended twice after it had resumed this run, so the run was not resumed again. A test case or scorer may be the cause; ' +
  'see the log (cadre daemon logs), then start a new run.'

interface RunExecutorDependencies extends Shared<'database' | 'cluster' | 'events' | 'logger'> {
  targets: Targets
  scorerTools: ScorerToolFactory
  meter: Meter
}

interface PendingCase {
  test: TestCase
  position: number
  /** Counted from 1. */
  repeat: number
}

/** Shared by all test cases of a run. */
interface RunContext {
  ask: AskTarget
  tools: ScorerTools
  acquire: Acquire
  signal: AbortSignal
}

interface ActiveRun {
  run: RunWithCases
  controller: AbortController
  completion: Promise<void>
}

export class RunExecutor {
  readonly #dependencies: RunExecutorDependencies
  readonly #queue: RunWithCases[] = []
  readonly #active = new Map<string, ActiveRun>()
  /** Identifiers of the runs that a stop or a crash interrupted. */
  readonly #resumed = new Set<string>()
  /** Emits the identifier of a run after new results and at its end. */
  readonly #progress = new EventEmitter().setMaxListeners(0)
  #isClosed = false

  constructor(dependencies: RunExecutorDependencies) {
    this.#dependencies = dependencies
  }

  /** Queues a run that is stored with the status queued. */
  enqueue(run: RunWithCases): void {
    this.#queue.push(run)
    this.#startQueued()
  }

  /** Ends the runs that were resumed before and during which the daemon crashed again. */
  async parkRuns(): Promise<void> {
    const { database, cluster, logger } = this.#dependencies
    const parked = await listParkedJobs(database, 'run')
    if (parked.size === 0) return
    for (const run of await listUnfinishedRuns(database)) {
      if (!parked.has(run.id) || (await cluster.leases.findHolder(formatLease(run.id)))) continue
      logger.error({ run: run.id }, 'an evaluation run is not resumed again: the daemon ended twice after it had resumed it')
      await this.#finish(run, 'failed', PARKED_ERROR)
    }
  }

  /** Continues the runs that a stop or a crash interrupted. */
  async resume(): Promise<void> {
    for (const run of await listUnfinishedRuns(this.#dependencies.database)) {
      this.#resumed.add(run.id)
      this.enqueue(run)
    }
  }

  /** For a shared database: takes over the runs of daemons that ended, and stops those that another daemon cancelled. */
  async followOthers(): Promise<void> {
    const unfinished = await listUnfinishedRuns(this.#dependencies.database)
    const ids = new Set(unfinished.map(({ id }) => id))
    for (const id of this.#active.keys()) if (!ids.has(id)) void this.#stop(id)
    const known = new Set([...this.#active.keys(), ...this.#queue.map(({ id }) => id)])
    for (const run of unfinished) {
      if (known.has(run.id) || !(await this.#dependencies.cluster.leases.claim(formatLease(run.id)))) continue
      this.#resumed.add(run.id)
      this.enqueue(run)
    }
  }

  /** Waits for running test cases first, so that the summary includes all stored results. */
  async cancel(run: StoredRun): Promise<void> {
    await this.#stop(run.id)
    await this.#finish(run, 'cancelled', null)
    this.#progress.emit(run.id)
  }

  /** Stops all runs of a deleted evaluation. */
  async stopRuns(evaluationId: string): Promise<void> {
    const runs = [...this.#queue, ...[...this.#active.values()].map(({ run }) => run)].filter((run) => run.evaluation_id === evaluationId)
    await Promise.all(runs.map(({ id }) => this.#stop(id)))
    for (const { id } of runs) this.#progress.emit(id)
  }

  /** Calls the listener after new results and at the end of the run. Returns a function that unsubscribes. */
  subscribe(runId: string, listener: () => void): () => void {
    this.#progress.on(runId, listener)
    return () => void this.#progress.off(runId, listener)
  }

  /** Leaves unfinished runs for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.length = 0
    const running = [...this.#active.values()]
    for (const { controller } of running) controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.all(running.map(({ completion }) => completion))
    for (const runId of this.#progress.eventNames()) this.#progress.emit(runId)
  }

  get closed(): boolean {
    return this.#isClosed
  }

  async #stop(runId: string): Promise<void> {
    const index = this.#queue.findIndex(({ id }) => id === runId)
    if (index >= 0) this.#queue.splice(index, 1)
    const running = this.#active.get(runId)
    running?.controller.abort(new CadreError('CONFLICT', 'The run was cancelled.'))
    await running?.completion
  }

  #startQueued(): void {
    const { cluster, logger } = this.#dependencies
    while (!this.#isClosed && this.#active.size < MAX_ACTIVE_RUNS) {
      const run = this.#queue.shift()
      if (!run) return
      const controller = new AbortController()
      setMaxListeners(0, controller.signal) // one listener per test case
      const onOutage = (err: CadreError) => logger.warn({ run: run.id, err }, 'evaluation run interrupted; it continues after the outage')
      let attempts = 0
      const execute = () => this.#execute(run, controller.signal, attempts++ > 0)
      const completion = repeatWhileUnavailable(execute, controller.signal, onOutage)
        // A run that is stopped during an outage has not failed.
        .catch((error: unknown) => (controller.signal.aborted ? undefined : this.#handleFailure(run, error)))
        .then(() => this.#forgetResumes(run.id))
        .then(() => cluster.leases.release(formatLease(run.id)).catch(() => undefined)) // ends with this daemon otherwise
        .finally(() => {
          this.#active.delete(run.id)
          this.#progress.emit(run.id)
          this.#startQueued()
        })
      this.#active.set(run.id, { run, controller, completion })
    }
  }

  /** A repetition after an outage is not another resume. */
  async #execute(run: RunWithCases, signal: AbortSignal, isRepeated: boolean): Promise<void> {
    const { database, cluster, meter, targets, scorerTools } = this.#dependencies
    const started = await database.write(async (transaction) => {
      if (!(await cluster.leases.claim(formatLease(run.id), transaction))) return false
      if (this.#resumed.has(run.id) && !isRepeated) await countResume(transaction, 'run', run.id)
      return updateRun(transaction, run.id, { status: 'running', started_at: run.started_at ?? new Date().toISOString() })
    })
    if (!started) return
    const finished = await listFinishedCases(database, run.id)
    const pending = Array.from({ length: run.repeats }, (_, repeat) =>
      run.test_cases.map((test, position) => ({ test, position, repeat: repeat + 1 })),
    )
      .flat()
      .filter(({ position, repeat }) => !finished.has(`${position}/${repeat}`))
    const results = createResultWriter({ database, meter }, run.id, () => this.#progress.emit(run.id))
    const { acquire } = new Semaphore(run.concurrency)
    const { evaluation, target } = run.configuration
    const ask = targets[evaluation.type].prepare(target)
    const tools = scorerTools.createTools({ evaluation_id: run.evaluation_id }, acquire, signal)
    let next = 0
    let outage: CadreError | undefined
    const worker = async () => {
      for (let item = pending[next++]; item !== undefined && !signal.aborted && !results.hasFailed() && !outage; item = pending[next++]) {
        const finishedCase = await this.#executeCase(run, item, { ask, tools, acquire, signal })
        results.add(finishedCase)
        outage ??= finishedCase.outage
      }
    }
    // Twice the concurrency, which the semaphore enforces: the other half prepares or scores meanwhile.
    const workers = 2 * run.concurrency
    await Promise.all(Array.from({ length: Math.min(workers, pending.length) }, worker))
    await results.close()
    if (signal.aborted) return
    if (outage) throw outage
    await this.#finish(run, 'completed', null)
  }

  /** Stores the end of a run and publishes the event in one transaction. Does nothing if the run has already ended. */
  async #finish(run: StoredRun, status: 'completed' | 'failed' | 'cancelled', error: string | null): Promise<void> {
    const { database, events } = this.#dependencies
    await database.write(async (transaction) => {
      // Here too, because a queued run can be cancelled before it is resumed.
      await forgetResumes(transaction, 'run', run.id)
      const { summary } = await summarizeRun(transaction, run.id, run.total)
      const finished_at = new Date().toISOString()
      if (!(await updateRun(transaction, run.id, { status, finished_at, error, summary }))) return
      const { evaluation_id, id: run_id, configuration } = run
      const { name } = configuration.evaluation
      await events.publish(transaction, 'evaluation.finished', { evaluation_id, run_id, name, status, summary, finished_at })
    })
  }

  /** Returns no result if the run was stopped meanwhile, or after an outage. */
  async #executeCase(
    run: RunWithCases,
    { test, position, repeat }: PendingCase,
    { ask, tools, acquire, signal }: RunContext,
  ): Promise<FinishedCase> {
    const { evaluation_id, caller, configuration } = run
    const base = { position, repeat, input: test.input, expected_output: test.expected_output ?? null, metadata: test.metadata ?? {} }
    let unsettled: readonly Settlement[] = []
    try {
      const answer = await ask(test, { origin: { evaluation_id, user_id: caller.userId }, caller, acquire, signal })
      unsettled = answer.unsettled
      const scores = await scoreAnswer(test.scorers ?? configuration.evaluation.scorers, test, answer, tools)
      if (signal.aborted && scores.error !== null) return { unsettled } // the scorer failed because the run was stopped
      const { output: actual_output, unsettled: _, ...details } = answer
      return { unsettled, result: { ...base, ...details, actual_output, ...scores } }
    } catch (error) {
      if (signal.aborted) return { unsettled }
      if (isOutage(error)) return { unsettled, outage: error }
      if (!(error instanceof CadreError))
        this.#dependencies.logger.error({ err: error, run: run.id, position }, 'a test case failed unexpectedly')
      const noAnswer = {
        actual_output: null,
        passed: false,
        score: null,
        scores: {},
        latency_ms: null,
        usage: null,
        cost: null,
        citations: [],
      }
      return { unsettled, result: { ...base, ...noAnswer, error: describeError(error) } }
    }
  }

  async #handleFailure(run: RunWithCases, error: unknown): Promise<void> {
    this.#dependencies.logger.error({ err: error, run: run.id }, 'an evaluation run failed')
    await this.#finish(run, 'failed', describeError(error)).catch((storeError: unknown) =>
      this.#dependencies.logger.error({ err: storeError, run: run.id }, 'the failure of an evaluation run could not be stored'),
    )
  }

  async #forgetResumes(runId: string): Promise<void> {
    if (!this.#resumed.delete(runId)) return
    await this.#dependencies.database
      .write((transaction) => forgetResumes(transaction, 'run', runId))
      .catch((error: unknown) => this.#dependencies.logger.error({ err: error, run: runId }, 'the end of a run could not be stored'))
  }
}

const describeError = (error: unknown): string => (error instanceof CadreError ? error.message : 'Internal error. See the log for details.')

const formatLease = (runId: string) => `run/${runId}`
