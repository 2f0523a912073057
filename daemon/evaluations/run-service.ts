/** Runs of evaluations for those who ask: begun, listed, cancelled, followed and compared. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import type { Run, RunComparison, RunDetails, runRoutes } from '../../src/contract/families/evaluation-runs.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Page } from '../store/records.ts'
import { type ComparedResult, compareRuns } from './compare-runs.ts'
import { listAnswers, listOutcomes, type Outcome } from './comparison-store.ts'
import type { RunConfiguration, RunExecutor } from './run-executor.ts'
import {
  findNewestRun,
  findRun,
  insertRun,
  listResults,
  listRuns,
  listTestCases,
  type ResultQuery,
  type RunWithCases,
  type StoredRun,
  summarizeRun,
  type TestCase,
} from './run-store.ts'
import type { EvaluationsService } from './service.ts'
import type { Targets } from './targets.ts'

type RunView = Static<typeof Run>
type Results = Static<typeof runRoutes.results.response>

export interface RunsDependencies {
  database: Database
  engine: RunExecutor
  targets: Targets
  evaluations: EvaluationsService
}

export class RunsService {
  readonly #dependencies: RunsDependencies

  constructor(parts: RunsDependencies) {
    this.#dependencies = parts
  }

  async start(change: ChangeContext, id: string, pace: { concurrency?: number; repeats?: number }): Promise<RunView> {
    const { database, engine, targets, evaluations } = this.#dependencies
    const { run, shown } = await database.write(async (transaction) => {
      const { name, type, target_id, scorers, test_cases, concurrency, repeats } = await evaluations.require(transaction, change.caller, id)
      if (target_id === null)
        throw new CadreError('CONFLICT', 'What this evaluation asks was deleted.', { hint: 'Give it another target_id.' })
      const target = await targets[type].findConfiguration(transaction, target_id)
      if (!target) throw createNotFoundError(type.replace('_', ' '), target_id)
      const configuration: RunConfiguration = { evaluation: { name, type, target_id, scorers }, target }
      const made: RunWithCases = {
        id: generateId('run'),
        evaluation_id: id,
        status: 'queued',
        created_at: new Date().toISOString(),
        started_at: null,
        finished_at: null,
        error: null,
        concurrency: pace.concurrency ?? concurrency,
        repeats: pace.repeats ?? repeats,
        total: test_cases.length * (pace.repeats ?? repeats),
        caller: change.caller,
        configuration,
        test_cases,
        summary: null,
      }
      await insertRun(transaction, made)
      const told = await this.#toView(transaction, made)
      await change.storeResponse?.(transaction, told)
      return { run: made, shown: told }
    })
    engine.enqueue(run)
    return shown
  }

  async list(caller: Caller, id: string, query: ListQuery): Promise<Page<RunView>> {
    const { database } = this.#dependencies
    await this.#dependencies.evaluations.requireExists(database, caller, id)
    const { items, total } = await listRuns(database, id, query)
    return { items: await Promise.all(items.map((run) => this.#toView(database, run))), total }
  }

  async get(caller: Caller, id: string, runId: string): Promise<Static<typeof RunDetails>> {
    return this.#toDetails(await this.#require(caller, id, runId))
  }

  /** Of the newest run where none is named. */
  async getResults(caller: Caller, id: string, { run_id, ...paging }: ResultQuery & { run_id?: string }): Promise<Results> {
    const { database } = this.#dependencies
    const run = run_id === undefined ? await this.#requireNewest(caller, id) : await this.#require(caller, id, run_id)
    const { items, total } = await listResults(database, run.id, paging)
    const { page = 1, limit = Math.max(total, 1) } = paging
    return { ...(await this.#toDetails(run)), results: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
  }

  async cancel(change: ChangeContext, id: string, runId: string): Promise<RunView> {
    const { database, engine } = this.#dependencies
    await engine.cancel(await this.#require(change.caller, id, runId))
    return this.#toView(database, await this.#require(change.caller, id, runId))
  }

  async compare(caller: Caller, id: string, a: string, b: string): Promise<Static<typeof RunComparison>> {
    const { database } = this.#dependencies
    const runs = [await this.#require(caller, id, a), await this.#require(caller, id, b)] as const
    const before = await loadOutcomes(database, a)
    const after = await loadOutcomes(database, b)
    const shown = [await this.#toView(database, runs[0]), await this.#toView(database, runs[1])] as const
    const { comparison, differences } = compareRuns(...shown, before.outcomes, after.outcomes)
    const changes: Static<typeof RunComparison>['changes'] = []
    for (let from = 0; from < differences.length; from += BATCH_SIZE) {
      const some = differences.slice(from, from + BATCH_SIZE)
      const [was, is] = [
        await listAnswers(
          database,
          a,
          some.map((one) => one.a),
        ),
        await listAnswers(
          database,
          b,
          some.map((one) => one.b),
        ),
      ]
      for (const [index, { change, a: then, b: now }] of some.entries()) {
        const { input, expected_output = null } = after.cases[now.position] as TestCase
        changes.push({
          position: now.position,
          input,
          expected_output,
          change,
          a: toComparedSide(then, was[index]),
          b: toComparedSide(now, is[index]),
        })
      }
      await turn() // others are answered in between
    }
    return { ...comparison, changes }
  }

  /** Where a run stands whenever it moves on, then how it ended. */
  async *streamEvents(caller: Caller, id: string, runId: string): AsyncGenerator<StreamEvent> {
    const { database, engine } = this.#dependencies
    let moved = () => {}
    const leave = engine.subscribe(runId, () => moved())
    try {
      for (;;) {
        const change = new Promise<void>((resolve) => {
          moved = resolve
        })
        const run = await this.#toView(database, await this.#require(caller, id, runId))
        const ended = run.status !== 'queued' && run.status !== 'running'
        yield { event: ended ? 'end' : 'progress', data: { run } }
        if (ended || engine.closed) return
        await change
        await pause(PROGRESS_INTERVAL_MS) // results come faster than anybody reads; each look counts them all
      }
    } finally {
      leave()
    }
  }

  async #requireNewest(caller: Caller, id: string): Promise<StoredRun> {
    const { database } = this.#dependencies
    await this.#dependencies.evaluations.requireExists(database, caller, id)
    const run = await findNewestRun(database, id)
    if (!run)
      throw new CadreError('NOT_FOUND', 'This evaluation has not been run yet.', {
        hint: `POST /api/evaluations/${id}/run (cadre evaluations run) runs it.`,
      })
    return run
  }

  async #require(caller: Caller, id: string, runId: string): Promise<StoredRun> {
    const { database } = this.#dependencies
    await this.#dependencies.evaluations.requireExists(database, caller, id)
    const run = await findRun(database, id, runId)
    if (!run) throw createNotFoundError('run', runId)
    return run
  }

  async #toDetails(run: StoredRun): Promise<Static<typeof RunDetails>> {
    return { ...(await this.#toView(this.#dependencies.database, run)), configuration: run.configuration }
  }

  async #toView(reader: Reader, run: StoredRun): Promise<RunView> {
    const { id: run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, total } = run
    const { done, summary } = run.summary
      ? { done: countDone(run.summary), summary: run.summary }
      : await summarizeRun(reader, run_id, total)
    return { run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, done, summary }
  }
}

const countDone = ({ passed, failed, errors }: RunView['summary']): number => passed + failed + errors

/** Between two looks at a run that goes on. */
const PROGRESS_INTERVAL_MS = 100

/** Results whose texts are read in one turn of the event loop. */
const BATCH_SIZE = 200

const toComparedSide = ({ score, passed }: Outcome, actual_output: string | null = null) => ({ score, passed, actual_output })

/** A test case is told from others by what is asked and expected, so that runs compare after cases were added or moved. */
async function loadOutcomes(reader: Reader, runId: string): Promise<{ cases: TestCase[]; outcomes: ComparedResult[] }> {
  const cases = await listTestCases(reader, runId)
  await turn()
  const keys = cases.map(({ input, expected_output, expected_sources, variables }) =>
    JSON.stringify([input, expected_output, expected_sources, variables]),
  )
  await turn()
  const outcomes = await listOutcomes(reader, runId)
  return { cases, outcomes: outcomes.map((outcome) => ({ ...outcome, key: keys[outcome.position] as string })) }
}
