/** Runs evaluations: a few at a time, several test cases at once, and on from where it stood after a restart. */
import { setMaxListeners } from 'node:events'
import { CadreError } from '../../src/contract/errors.ts'
import type { ScorerSettings } from '../../src/contract/families/evaluations.ts'
import { type Acquire, Semaphore } from '../async/semaphore.ts'
import type { EventBus } from '../core/event-bus.ts'
import type { Meter, Settlement } from '../core/meter.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import { type FinishedCase, ResultWriter } from './result-writer.ts'
import {
  listFinishedCases,
  listUnfinishedRuns,
  type RunWithCases,
  type StoredRun,
  summarizeRun,
  type TestCase,
  updateRun,
} from './run-store.ts'
import { type ScorerTools, scoreAnswer } from './score-answer.ts'
import type { ScorerToolFactory } from './scorer-tool-factory.ts'
import type { AskTarget, EvaluationType, Targets } from './targets.ts'

/** Runs at a time; the others wait in line. */
const MAX_ACTIVE_RUNS = 4

/** What a run was made of, kept with it. */
export interface RunConfiguration extends Record<string, unknown> {
  evaluation: { name: string; type: EvaluationType; target_id: string; scorers: ScorerSettings[] }
  target: Record<string, unknown>
}

export interface RunExecutorDependencies {
  database: Database
  targets: Targets
  scoring: ScorerToolFactory
  meter: Meter
  bus: EventBus
  logger: Logger
}

interface PendingCase {
  test: TestCase
  position: number
  /** From 1 on. */
  repeat: number
}

/** What all test cases of a run share. */
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
  readonly #listeners = new Map<string, Set<() => void>>()
  #isClosed = false

  constructor(parts: RunExecutorDependencies) {
    this.#dependencies = parts
  }

  /** Takes a run that is stored as queued. */
  enqueue(run: RunWithCases): void {
    this.#queue.push(run)
    this.#startQueued()
  }

  /** Takes up what a stop or a kill left unfinished. */
  async resume(): Promise<void> {
    for (const run of await listUnfinishedRuns(this.#dependencies.database)) this.enqueue(run)
  }

  /** Ends a run before its time. What has run stays, and is in the summary: it ends once nothing of it is under way. */
  async cancel(run: StoredRun): Promise<void> {
    await this.#stop(run.id)
    await this.#finish(run, 'cancelled', null)
    this.#notify(run.id)
  }

  /** Ends what runs of an evaluation that was deleted. */
  async stopRuns(evaluationId: string): Promise<void> {
    const runs = [...this.#queue, ...[...this.#active.values()].map(({ run }) => run)].filter((run) => run.evaluation_id === evaluationId)
    await Promise.all(runs.map(({ id }) => this.#stop(id)))
    for (const { id } of runs) this.#notify(id)
  }

  /** Calls back whenever results came or the run ended; returns how to stop. */
  subscribe(runId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(runId) ?? new Set()
    this.#listeners.set(runId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(runId)
    }
  }

  /** Unfinished runs stay as they are: the next start goes on with them. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.length = 0
    const running = [...this.#active.values()]
    for (const { controller } of running) controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.all(running.map(({ completion: settled }) => settled))
    for (const runId of this.#listeners.keys()) this.#notify(runId)
  }

  get closed(): boolean {
    return this.#isClosed
  }

  async #stop(runId: string): Promise<void> {
    const at = this.#queue.findIndex(({ id }) => id === runId)
    if (at >= 0) this.#queue.splice(at, 1)
    const running = this.#active.get(runId)
    running?.controller.abort(new CadreError('CONFLICT', 'The run was cancelled.'))
    await running?.completion
  }

  #startQueued(): void {
    while (!this.#isClosed && this.#active.size < MAX_ACTIVE_RUNS) {
      const run = this.#queue.shift()
      if (!run) return
      const controller = new AbortController()
      setMaxListeners(0, controller.signal) // each test case listens
      const settled = this.#execute(run, controller.signal)
        .catch((error: unknown) => this.#handleFailure(run, error))
        .finally(() => {
          this.#active.delete(run.id)
          this.#notify(run.id)
          this.#startQueued()
        })
      this.#active.set(run.id, { run, controller, completion: settled })
    }
  }

  async #execute(run: RunWithCases, signal: AbortSignal): Promise<void> {
    const { database, meter, scoring } = this.#dependencies
    const started = await database.write((transaction) =>
      updateRun(transaction, run.id, { status: 'running', started_at: run.started_at ?? new Date().toISOString() }),
    )
    if (!started) return
    const done = await listFinishedCases(database, run.id)
    const todo = Array.from({ length: run.repeats }, (_, repeat) =>
      run.test_cases.map((test, position) => ({ test, position, repeat: repeat + 1 })),
    )
      .flat()
      .filter(({ position, repeat }) => !done.has(`${position}/${repeat}`))
    const results = new ResultWriter({ database, meter }, run.id, () => this.#notify(run.id))
    const { acquire: turn } = new Semaphore(run.concurrency)
    const { evaluation, target } = run.configuration as RunConfiguration
    const ask = this.#dependencies.targets[evaluation.type].prepare(target)
    const tools = scoring.createTools({ evaluation_id: run.evaluation_id }, turn, signal)
    let next = 0
    const worker = async () => {
      for (let item = todo[next++]; item !== undefined && !signal.aborted && !results.hasFailed; item = todo[next++]) {
        results.add(await this.#executeCase(run, item, { ask, tools, acquire: turn, signal }))
      }
    }
    // Twice as many as are answered at a time: the others are made ready meanwhile.
    const workers = 2 * run.concurrency
    await Promise.all(Array.from({ length: Math.min(workers, todo.length) }, worker))
    await results.close()
    if (signal.aborted) return
    await this.#finish(run, 'completed', null)
  }

  /** Ends a run that has not ended, and tells of it in the same transaction. */
  async #finish(run: StoredRun, status: 'completed' | 'failed' | 'cancelled', error: string | null): Promise<void> {
    const { database, bus } = this.#dependencies
    await database.write(async (transaction) => {
      const { summary } = await summarizeRun(transaction, run.id, run.total)
      const finished_at = new Date().toISOString()
      if (!(await updateRun(transaction, run.id, { status, finished_at, error, summary }))) return
      const { name } = (run.configuration as RunConfiguration).evaluation
      await bus.publish(transaction, 'evaluation.finished', {
        evaluation_id: run.evaluation_id,
        run_id: run.id,
        name,
        status,
        summary,
        finished_at,
      })
    })
  }

  /** Without a result where the run ended meanwhile. */
  async #executeCase(
    run: RunWithCases,
    { test, position, repeat }: PendingCase,
    { ask, tools, acquire: turn, signal }: RunContext,
  ): Promise<FinishedCase> {
    const { evaluation } = run.configuration as RunConfiguration
    const known = { position, repeat, input: test.input, expected_output: test.expected_output ?? null, metadata: test.metadata ?? {} }
    let unsettled: readonly Settlement[] = []
    try {
      const answer = await ask(test, { evaluationId: run.evaluation_id, caller: run.caller, acquire: turn, signal })
      unsettled = answer.unsettled
      const scored = await scoreAnswer(test.scorers ?? evaluation.scorers, test, answer, tools)
      if (signal.aborted && scored.error !== null) return { unsettled } // the end of the run stopped a scorer, not the answer
      const { output: actual_output, unsettled: _, ...told } = answer
      return { unsettled, result: { ...known, ...told, actual_output, ...scored } }
    } catch (error) {
      if (signal.aborted) return { unsettled }
      if (!(error instanceof CadreError))
        this.#dependencies.logger.error({ err: error, run: run.id, position }, 'a test case could not be run')
      const nothing = {
        actual_output: null,
        passed: false,
        score: null,
        scores: {},
        latency_ms: null,
        usage: null,
        cost: null,
        citations: [],
      }
      return { unsettled, result: { ...known, ...nothing, error: describeError(error) } }
    }
  }

  async #handleFailure(run: RunWithCases, error: unknown): Promise<void> {
    this.#dependencies.logger.error({ err: error, run: run.id }, 'a run of an evaluation failed')
    await this.#finish(run, 'failed', describeError(error)).catch((again: unknown) =>
      this.#dependencies.logger.error({ err: again, run: run.id }, 'that could not be stored either'),
    )
  }

  #notify(runId: string): void {
    for (const listener of this.#listeners.get(runId) ?? []) listener()
  }
}

const describeError = (error: unknown): string =>
  error instanceof CadreError ? error.message : 'Something went wrong inside Cadre; the log has the details.'
