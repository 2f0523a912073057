/** Runs evaluations: a few at a time, several test cases at once, and on from where it stood after a restart. */
import { setMaxListeners } from 'node:events'
import { CadreError } from '../../src/contract/errors.ts'
import type { ScorerSettings } from '../../src/contract/families/evaluations.ts'
import { type Acquire, Semaphore } from '../async/semaphore.ts'
import type { EventBus } from '../core/event-bus.ts'
import type { Meter, Settlement } from '../core/meter.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import { type FinishedCase, ResultQueue } from './result-queue.ts'
import { changeRun, finishedCases, type RunToDo, type StoredRun, summaryOf, type TestCase, unfinishedRuns } from './run-store.ts'
import { type ScoringTools, scoreAnswer } from './scoring.ts'
import type { Scoring } from './scoring-tools.ts'
import type { Ask, EvaluationType, Targets } from './targets.ts'

/** Runs at a time; the others wait in line. */
const MOST_RUNS = 4

/** What a run was made of, kept with it. */
export interface RunConfiguration extends Record<string, unknown> {
  evaluation: { name: string; type: EvaluationType; target_id: string; scorers: ScorerSettings[] }
  target: Record<string, unknown>
}

export interface EngineParts {
  database: Database
  targets: Targets
  scoring: Scoring
  meter: Meter
  bus: EventBus
  logger: Logger
}

interface CaseToDo {
  test: TestCase
  position: number
  /** From 1 on. */
  repeat: number
}

/** What all test cases of a run share. */
interface RunUse {
  ask: Ask
  tools: ScoringTools
  turn: Acquire
  signal: AbortSignal
}

interface Running {
  run: RunToDo
  controller: AbortController
  settled: Promise<void>
}

export class Engine {
  readonly #parts: EngineParts
  readonly #waiting: RunToDo[] = []
  readonly #running = new Map<string, Running>()
  readonly #followers = new Map<string, Set<() => void>>()
  #closed = false

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  /** Takes a run that is stored as queued. */
  enqueue(run: RunToDo): void {
    this.#waiting.push(run)
    this.#next()
  }

  /** Takes up what a stop or a kill left unfinished. */
  async resume(): Promise<void> {
    for (const run of await unfinishedRuns(this.#parts.database)) this.enqueue(run)
  }

  /** Ends a run before its time. What has run stays, and is in the summary: it ends once nothing of it is under way. */
  async cancel(run: StoredRun): Promise<void> {
    await this.#stop(run.id)
    await this.#end(run, 'cancelled', null)
    this.#tell(run.id)
  }

  /** Ends what runs of an evaluation that was deleted. */
  async stopAllOf(evaluationId: string): Promise<void> {
    const runs = [...this.#waiting, ...[...this.#running.values()].map(({ run }) => run)].filter(
      (run) => run.evaluation_id === evaluationId,
    )
    await Promise.all(runs.map(({ id }) => this.#stop(id)))
    for (const { id } of runs) this.#tell(id)
  }

  /** Calls back whenever results came or the run ended; returns how to stop. */
  follow(runId: string, listener: () => void): () => void {
    const listeners = this.#followers.get(runId) ?? new Set()
    this.#followers.set(runId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#followers.delete(runId)
    }
  }

  /** Unfinished runs stay as they are: the next start goes on with them. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waiting.length = 0
    const running = [...this.#running.values()]
    for (const { controller } of running) controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.all(running.map(({ settled }) => settled))
    for (const runId of this.#followers.keys()) this.#tell(runId)
  }

  get closed(): boolean {
    return this.#closed
  }

  async #stop(runId: string): Promise<void> {
    const at = this.#waiting.findIndex(({ id }) => id === runId)
    if (at >= 0) this.#waiting.splice(at, 1)
    const running = this.#running.get(runId)
    running?.controller.abort(new CadreError('CONFLICT', 'The run was cancelled.'))
    await running?.settled
  }

  #next(): void {
    while (!this.#closed && this.#running.size < MOST_RUNS) {
      const run = this.#waiting.shift()
      if (!run) return
      const controller = new AbortController()
      setMaxListeners(0, controller.signal) // each test case listens
      const settled = this.#perform(run, controller.signal)
        .catch((error: unknown) => this.#failed(run, error))
        .finally(() => {
          this.#running.delete(run.id)
          this.#tell(run.id)
          this.#next()
        })
      this.#running.set(run.id, { run, controller, settled })
    }
  }

  async #perform(run: RunToDo, signal: AbortSignal): Promise<void> {
    const { database, meter, scoring } = this.#parts
    const started = await database.write((transaction) =>
      changeRun(transaction, run.id, { status: 'running', started_at: run.started_at ?? new Date().toISOString() }),
    )
    if (!started) return
    const done = await finishedCases(database, run.id)
    const todo = Array.from({ length: run.repeats }, (_, repeat) =>
      run.test_cases.map((test, position) => ({ test, position, repeat: repeat + 1 })),
    )
      .flat()
      .filter(({ position, repeat }) => !done.has(`${position}/${repeat}`))
    const results = new ResultQueue({ database, meter }, run.id, () => this.#tell(run.id))
    const { acquire: turn } = new Semaphore(run.concurrency)
    const { evaluation, target } = run.configuration as RunConfiguration
    const ask = this.#parts.targets[evaluation.type].asConfigured(target)
    const tools = scoring.tools({ evaluation_id: run.evaluation_id }, turn, signal)
    let next = 0
    const worker = async () => {
      for (let item = todo[next++]; item !== undefined && !signal.aborted && !results.broken; item = todo[next++]) {
        results.add(await this.#case(run, item, { ask, tools, turn, signal }))
      }
    }
    // Twice as many as are answered at a time: the others are made ready meanwhile.
    const workers = 2 * run.concurrency
    await Promise.all(Array.from({ length: Math.min(workers, todo.length) }, worker))
    await results.settled()
    if (signal.aborted) return
    await this.#end(run, 'completed', null)
  }

  /** Ends a run that has not ended, and tells of it in the same transaction. */
  async #end(run: StoredRun, status: 'completed' | 'failed' | 'cancelled', error: string | null): Promise<void> {
    const { database, bus } = this.#parts
    await database.write(async (transaction) => {
      const { summary } = await summaryOf(transaction, run.id, run.total)
      const finished_at = new Date().toISOString()
      if (!(await changeRun(transaction, run.id, { status, finished_at, error, summary }))) return
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
  async #case(run: RunToDo, { test, position, repeat }: CaseToDo, { ask, tools, turn, signal }: RunUse): Promise<FinishedCase> {
    const { evaluation } = run.configuration as RunConfiguration
    const known = { position, repeat, input: test.input, expected_output: test.expected_output ?? null, metadata: test.metadata ?? {} }
    let unsettled: readonly Settlement[] = []
    try {
      const answer = await ask(test, { evaluationId: run.evaluation_id, caller: run.caller, turn, signal })
      unsettled = answer.unsettled
      const scored = await scoreAnswer(test.scorers ?? evaluation.scorers, test, answer, tools)
      if (signal.aborted && scored.error !== null) return { unsettled } // the end of the run stopped a scorer, not the answer
      const { output: actual_output, unsettled: _, ...told } = answer
      return { unsettled, result: { ...known, ...told, actual_output, ...scored } }
    } catch (error) {
      if (signal.aborted) return { unsettled }
      if (!(error instanceof CadreError)) this.#parts.logger.error({ err: error, run: run.id, position }, 'a test case could not be run')
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
      return { unsettled, result: { ...known, ...nothing, error: reasonOf(error) } }
    }
  }

  async #failed(run: RunToDo, error: unknown): Promise<void> {
    this.#parts.logger.error({ err: error, run: run.id }, 'a run of an evaluation failed')
    await this.#end(run, 'failed', reasonOf(error)).catch((again: unknown) =>
      this.#parts.logger.error({ err: again, run: run.id }, 'that could not be stored either'),
    )
  }

  #tell(runId: string): void {
    for (const listener of this.#followers.get(runId) ?? []) listener()
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof CadreError ? error.message : 'Something went wrong inside Cadre; the log has the details.'
