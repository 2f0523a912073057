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
import { type ComparedResult, compareRuns } from './comparison.ts'
import { answersAt, type Outcome, outcomesOf } from './comparison-store.ts'
import type { Engine, RunConfiguration } from './engine.ts'
import {
  getRun,
  insertRun,
  newestRun,
  pageOfRuns,
  type ResultPage,
  type RunToDo,
  resultsOf,
  type StoredRun,
  summaryOf,
  type TestCase,
  testCasesOf,
} from './run-store.ts'
import type { EvaluationsService } from './service.ts'
import type { Targets } from './targets.ts'

type ShownRun = Static<typeof Run>
type Results = Static<typeof runRoutes.results.response>

export interface RunsParts {
  database: Database
  engine: Engine
  targets: Targets
  evaluations: EvaluationsService
}

export class Runs {
  readonly #parts: RunsParts

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  async begin(change: ChangeContext, id: string, pace: { concurrency?: number; repeats?: number }): Promise<ShownRun> {
    const { database, engine, targets, evaluations } = this.#parts
    const { run, shown } = await database.write(async (transaction) => {
      const { name, type, target_id, scorers, test_cases, concurrency, repeats } = await evaluations.require(transaction, change.caller, id)
      if (target_id === null)
        throw new CadreError('CONFLICT', 'What this evaluation asks was deleted.', { hint: 'Give it another target_id.' })
      const target = await targets[type].configuration(transaction, target_id)
      if (!target) throw createNotFoundError(type.replace('_', ' '), target_id)
      const configuration: RunConfiguration = { evaluation: { name, type, target_id, scorers }, target }
      const made: RunToDo = {
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
      const told = await this.#shown(transaction, made)
      await change.storeResponse?.(transaction, told)
      return { run: made, shown: told }
    })
    engine.enqueue(run)
    return shown
  }

  async list(caller: Caller, id: string, query: ListQuery): Promise<Page<ShownRun>> {
    const { database } = this.#parts
    await this.#parts.evaluations.requireExists(database, caller, id)
    const { items, total } = await pageOfRuns(database, id, query)
    return { items: await Promise.all(items.map((run) => this.#shown(database, run))), total }
  }

  async get(caller: Caller, id: string, runId: string): Promise<Static<typeof RunDetails>> {
    return this.#inFull(await this.#require(caller, id, runId))
  }

  /** Of the newest run where none is named. */
  async results(caller: Caller, id: string, { run_id, ...paging }: ResultPage & { run_id?: string }): Promise<Results> {
    const { database } = this.#parts
    const run = run_id === undefined ? await this.#newest(caller, id) : await this.#require(caller, id, run_id)
    const { items, total } = await resultsOf(database, run.id, paging)
    const { page = 1, limit = Math.max(total, 1) } = paging
    return { ...(await this.#inFull(run)), results: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
  }

  async cancel(change: ChangeContext, id: string, runId: string): Promise<ShownRun> {
    const { database, engine } = this.#parts
    await engine.cancel(await this.#require(change.caller, id, runId))
    return this.#shown(database, await this.#require(change.caller, id, runId))
  }

  async compare(caller: Caller, id: string, a: string, b: string): Promise<Static<typeof RunComparison>> {
    const { database } = this.#parts
    const runs = [await this.#require(caller, id, a), await this.#require(caller, id, b)] as const
    const before = await keyedOutcomes(database, a)
    const after = await keyedOutcomes(database, b)
    const shown = [await this.#shown(database, runs[0]), await this.#shown(database, runs[1])] as const
    const { comparison, differences } = compareRuns(...shown, before.outcomes, after.outcomes)
    const changes: Static<typeof RunComparison>['changes'] = []
    for (let from = 0; from < differences.length; from += AT_ONCE) {
      const some = differences.slice(from, from + AT_ONCE)
      const [was, is] = [
        await answersAt(
          database,
          a,
          some.map((one) => one.a),
        ),
        await answersAt(
          database,
          b,
          some.map((one) => one.b),
        ),
      ]
      for (const [index, { change, a: then, b: now }] of some.entries()) {
        const { input, expected_output = null } = after.cases[now.position] as TestCase
        changes.push({ position: now.position, input, expected_output, change, a: side(then, was[index]), b: side(now, is[index]) })
      }
      await turn() // others are answered in between
    }
    return { ...comparison, changes }
  }

  /** Where a run stands whenever it moves on, then how it ended. */
  async *events(caller: Caller, id: string, runId: string): AsyncGenerator<StreamEvent> {
    const { database, engine } = this.#parts
    let moved = () => {}
    const leave = engine.follow(runId, () => moved())
    try {
      for (;;) {
        const change = new Promise<void>((resolve) => {
          moved = resolve
        })
        const run = await this.#shown(database, await this.#require(caller, id, runId))
        const ended = run.status !== 'queued' && run.status !== 'running'
        yield { event: ended ? 'end' : 'progress', data: { run } }
        if (ended || engine.closed) return
        await change
        await pause(PACE_MS) // results come faster than anybody reads; each look counts them all
      }
    } finally {
      leave()
    }
  }

  async #newest(caller: Caller, id: string): Promise<StoredRun> {
    const { database } = this.#parts
    await this.#parts.evaluations.requireExists(database, caller, id)
    const run = await newestRun(database, id)
    if (!run)
      throw new CadreError('NOT_FOUND', 'This evaluation has not been run yet.', {
        hint: `POST /api/evaluations/${id}/run (cadre evaluations run) runs it.`,
      })
    return run
  }

  async #require(caller: Caller, id: string, runId: string): Promise<StoredRun> {
    const { database } = this.#parts
    await this.#parts.evaluations.requireExists(database, caller, id)
    const run = await getRun(database, id, runId)
    if (!run) throw createNotFoundError('run', runId)
    return run
  }

  async #inFull(run: StoredRun): Promise<Static<typeof RunDetails>> {
    return { ...(await this.#shown(this.#parts.database, run)), configuration: run.configuration }
  }

  async #shown(reader: Reader, run: StoredRun): Promise<ShownRun> {
    const { id: run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, total } = run
    const { done, summary } = run.summary ? { done: doneOf(run.summary), summary: run.summary } : await summaryOf(reader, run_id, total)
    return { run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, done, summary }
  }
}

const doneOf = ({ passed, failed, errors }: ShownRun['summary']): number => passed + failed + errors

/** Between two looks at a run that goes on. */
const PACE_MS = 100

/** Results whose texts are read in one turn of the event loop. */
const AT_ONCE = 200

const side = ({ score, passed }: Outcome, actual_output: string | null = null) => ({ score, passed, actual_output })

/** A test case is told from others by what is asked and expected, so that runs compare after cases were added or moved. */
async function keyedOutcomes(reader: Reader, runId: string): Promise<{ cases: TestCase[]; outcomes: ComparedResult[] }> {
  const cases = await testCasesOf(reader, runId)
  await turn()
  const keys = cases.map(({ input, expected_output, expected_sources, variables }) =>
    JSON.stringify([input, expected_output, expected_sources, variables]),
  )
  await turn()
  const outcomes = await outcomesOf(reader, runId)
  return { cases, outcomes: outcomes.map((outcome) => ({ ...outcome, key: keys[outcome.position] as string })) }
}
