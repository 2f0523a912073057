/** Starts, lists, cancels, streams and compares evaluation runs. */
import { setTimeout as pause, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import {
  MAX_RESULTS_PER_PAGE,
  type Run,
  type RunComparison,
  type RunDetails,
  type runRoutes,
} from '../../src/contract/families/evaluation-runs.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { generateId } from '../core/identifiers.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader } from '../store/database.ts'
import type { Page } from '../store/records.ts'
import { type ComparedResult, compareRuns } from './compare-runs.ts'
import { listAnswers, listOutcomes, type Outcome } from './comparison-store.ts'
import type { RunExecutor } from './run-executor.ts'
import {
  findEvaluationOfRun,
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

interface RunsDependencies extends Shared<'database' | 'cluster'> {
  executor: RunExecutor
  targets: Targets
  evaluations: EvaluationsService
}

export function createRunsService({ database, executor, targets, evaluations, cluster }: RunsDependencies) {
  async function start(change: ChangeContext, id: string, settings: Static<typeof runRoutes.run.body>): Promise<Run> {
    const { run, view } = await database.write(async (transaction) => {
      const { name, type, target_id, scorers, test_cases, concurrency, repeats } = await evaluations.require(transaction, change.caller, id)
      if (target_id === null)
        throw new CadreError('CONFLICT', 'The target of this evaluation was deleted.', { hint: 'Set another target_id.' })
      const target = await targets[type].getConfiguration(transaction, target_id)
      if (!target) throw createNotFoundError(type.replace('_', ' '), target_id)
      const newRun: RunWithCases = {
        id: generateId('run'),
        evaluation_id: id,
        status: 'queued',
        created_at: new Date().toISOString(),
        started_at: null,
        finished_at: null,
        error: null,
        concurrency: settings.concurrency ?? concurrency,
        repeats: settings.repeats ?? repeats,
        total: test_cases.length * (settings.repeats ?? repeats),
        caller: change.caller,
        configuration: { evaluation: { name, type, target_id, scorers }, target },
        test_cases,
        summary: null,
      }
      await insertRun(transaction, newRun)
      const response = await toView(transaction, newRun)
      await change.storeResponse?.(transaction, response)
      return { run: newRun, view: response }
    })
    executor.enqueue(run)
    return view
  }

  async function list(caller: Caller, id: string, query: ListQuery): Promise<Page<Run>> {
    await evaluations.requireExists(database, caller, id)
    const { items, total } = await listRuns(database, id, query)
    return { items: await Promise.all(items.map((run) => toView(database, run))), total }
  }

  async function get(caller: Caller, id: string, runId: string): Promise<Static<typeof RunDetails>> {
    return toDetails(await require(caller, id, runId))
  }

  /** Finds a run of any evaluation that the caller may read. */
  async function find(caller: Caller, runId: string): Promise<Static<typeof RunDetails>> {
    const evaluationId = await findEvaluationOfRun(database, runId)
    if (evaluationId === undefined) throw createNotFoundError('run', runId)
    return get(caller, evaluationId, runId)
  }

  /** Returns the results of the newest run unless `run_id` is given. */
  async function getResults(caller: Caller, id: string, query: ResultQuery): Promise<Static<typeof runRoutes.results.response>> {
    const run = query.run_id === undefined ? await requireNewest(caller, id) : await require(caller, id, query.run_id)
    const { items, total } = await listResults(database, run.id, query)
    const { page = 1, limit = Math.min(Math.max(total, 1), MAX_RESULTS_PER_PAGE) } = query
    return { ...(await toDetails(run)), results: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } }
  }

  async function cancel(change: ChangeContext, id: string, runId: string): Promise<Run> {
    await executor.cancel(await require(change.caller, id, runId))
    return toView(database, await require(change.caller, id, runId))
  }

  async function compare(caller: Caller, id: string, a: string, b: string): Promise<RunComparison> {
    const runs = [await require(caller, id, a), await require(caller, id, b)] as const
    const before = await loadOutcomes(database, a)
    const after = await loadOutcomes(database, b)
    const views = [await toView(database, runs[0]), await toView(database, runs[1])] as const
    const { comparison, differences } = compareRuns(...views, before.outcomes, after.outcomes)
    const changes: RunComparison['changes'] = []
    const maxLength = Math.floor(MAX_COMPARED_CHARACTERS / (2 * differences.length))
    for (let from = 0; from < differences.length; from += BATCH_SIZE) {
      const batch = differences.slice(from, from + BATCH_SIZE)
      const outcomes = { a: batch.map((difference) => difference.a), b: batch.map((difference) => difference.b) }
      const answersBefore = await listAnswers(database, a, outcomes.a)
      const answersAfter = await listAnswers(database, b, outcomes.b)
      for (const [index, { change, a: previous, b: current }] of batch.entries()) {
        const { position } = current
        const { input, expected_output = null } = after.cases[position] as TestCase
        changes.push({
          ...{ position, input, expected_output, change },
          a: toComparedSide(previous, answersBefore[index], maxLength),
          b: toComparedSide(current, answersAfter[index], maxLength),
        })
      }
      await yieldToEventLoop()
    }
    return { ...comparison, changes }
  }

  /** Yields the progress of a run, then its end. */
  async function* streamEvents(caller: Caller, id: string, runId: string): AsyncGenerator<StreamEvent> {
    let wake = () => {}
    const unsubscribe = executor.subscribe(runId, () => wake())
    const stopPolling = cluster.poll(POLL_INTERVAL_MS, () => wake())
    try {
      for (;;) {
        const change = new Promise<void>((resolve) => {
          wake = resolve
        })
        const run = await toView(database, await require(caller, id, runId))
        const ended = run.status !== 'queued' && run.status !== 'running'
        yield { event: ended ? 'end' : 'progress', data: { run } }
        if (ended || executor.closed) return
        await change
        await pause(PROGRESS_INTERVAL_MS) // each view counts all results
      }
    } finally {
      unsubscribe()
      stopPolling()
    }
  }

  async function requireNewest(caller: Caller, id: string): Promise<StoredRun> {
    await evaluations.requireExists(database, caller, id)
    const run = await findNewestRun(database, id)
    if (!run)
      throw new CadreError('NOT_FOUND', 'This evaluation has no runs.', {
        hint: `Start one: cadre evaluations run ${id} (POST /api/evaluations/${id}/run).`,
      })
    return run
  }

  async function require(caller: Caller, id: string, runId: string): Promise<StoredRun> {
    await evaluations.requireExists(database, caller, id)
    const run = await findRun(database, id, runId)
    if (!run) throw createNotFoundError('run', runId)
    return run
  }

  async function toDetails(run: StoredRun): Promise<Static<typeof RunDetails>> {
    return { ...(await toView(database, run)), configuration: run.configuration }
  }

  async function toView(reader: DatabaseReader, run: StoredRun): Promise<Run> {
    const { id: run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, total } = run
    const { done, summary } = run.summary
      ? { done: countDone(run.summary), summary: run.summary }
      : await summarizeRun(reader, run_id, total)
    return { run_id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, done, summary }
  }

  return { start, list, get, find, getResults, cancel, compare, streamEvents }
}

export type RunsService = ReturnType<typeof createRunsService>

const countDone = ({ passed, failed, errors }: Run['summary']): number => passed + failed + errors

/** Minimum time between two progress events. */
const PROGRESS_INTERVAL_MS = 100

/** Another daemon may execute the run. */
const POLL_INTERVAL_MS = 1_000

/** Results whose answers are read before yielding to the event loop. An answer may have megabytes. */
const BATCH_SIZE = 20

/** Characters of all answers of a comparison together; each answer gets an equal share. */
const MAX_COMPARED_CHARACTERS = 20_000_000

function toComparedSide({ score, passed }: Outcome, answer: string | null = null, maxLength: number) {
  if (answer === null || answer.length <= maxLength) return { score, passed, actual_output: answer }
  const actual_output = answer.slice(0, maxLength).toWellFormed()
  return { score, passed, actual_output, omitted_characters: answer.length - maxLength }
}

/** Identifies test cases by their content, so that runs stay comparable after cases were added or moved. */
async function loadOutcomes(reader: DatabaseReader, runId: string): Promise<{ cases: TestCase[]; outcomes: ComparedResult[] }> {
  const cases = await listTestCases(reader, runId)
  await yieldToEventLoop()
  const keys = cases.map(({ input, expected_output, expected_sources, variables, memories }) =>
    JSON.stringify([input, expected_output, expected_sources, variables, ...(memories ? [memories] : [])]),
  )
  await yieldToEventLoop()
  const outcomes = await listOutcomes(reader, runId)
  return { cases, outcomes: outcomes.map((outcome) => ({ ...outcome, key: keys[outcome.position] as string })) }
}
