/** Loads what a report of a run contains: results, the comparison with a baseline, and the runs before. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import { paginate } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { type Run, type RunComparison, type RunDetails, type RunResult, runRoutes } from '../../contract/families/evaluation-runs.ts'
import { MAX_TEST_CASES } from '../../contract/families/evaluations.ts'
import { type ShortText, TextLimit } from '../html/text-limit.ts'
import { resolveResource } from '../resources/resolve-references.ts'
import { evaluationTopic } from '../resources/topics/evaluations.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

/** A page must fit into memory even if each answer has a megabyte. */
const RESULTS_PER_PAGE = 200
const MAX_RESULTS = MAX_TEST_CASES
const MAX_TREND_RUNS = 30
const MAX_RUN_PAGES = 10

const RUN_ID = /^run_[0-9a-f]{8}-[0-9a-f-]{27}$/

export type Details = Static<typeof RunDetails>

/** Texts are shortened while they are read: together they may be larger than the memory. */
export interface ReportedResult extends Omit<RunResult, 'input' | 'expected_output' | 'actual_output' | 'citations'> {
  input: ShortText
  expected: ShortText | undefined
  actual: ShortText | undefined
  /** Names of the cited documents. */
  cited: string[]
}

export interface ReportedChange {
  change: 'better' | 'worse'
  position: number
  input: ShortText
  expected: ShortText | undefined
  before: ShortText | undefined
  now: ShortText | undefined
  scores: [number | null, number | null]
}

export interface RunReport {
  name: string
  run: Details
  /** Failures first. */
  results: ReportedResult[]
  /** Number of results that are not listed. */
  omittedResults: number
  baseline: { run: Details; comparison: Omit<RunComparison, 'changes'>; changes: ReportedChange[] } | undefined
  /** Completed runs up to this one, oldest first. */
  trend: Run[]
}

/** Finds a run by its ID, or the newest run of an evaluation by the ID or name of the evaluation. */
export async function findRun(connection: Connection, name: string): Promise<Details> {
  if (RUN_ID.test(name)) return (await call(connection, runRoutes.findRun, { params: { run_id: name } })).data
  return getRun(connection, await resolveResource(connection, evaluationTopic, name))
}

/** Gets a run of an evaluation, or the newest one. */
export async function getRun(connection: Connection, id: string, run_id?: string): Promise<Details> {
  const query = { limit: 1, ...(run_id ? { run_id } : {}) }
  const { results: _, pagination: __, ...run } = (await call(connection, runRoutes.results, { params: { id }, query })).data
  return run
}

/** Lists the completed runs up to this one, oldest first. */
export async function listTrend(connection: Connection, { evaluation_id, run_id, created_at }: Run): Promise<Run[]> {
  const read = (page: number) =>
    call(connection, runRoutes.runs, { params: { id: evaluation_id }, query: { page, limit: 100, status: 'completed' } as object })
  const runs: Run[] = []
  for await (const { data, pagination } of paginate(read)) {
    for (const run of data) if (run.run_id === run_id || run.created_at < created_at) runs.push(run)
    if (runs.length >= MAX_TREND_RUNS || pagination.page >= MAX_RUN_PAGES) break
  }
  return runs.slice(0, MAX_TREND_RUNS).reverse()
}

/** Returns the ID of a run; "last" is the completed run before this one. */
export function resolveBaseline(name: string, { run_id }: Run, trend: readonly Run[]): string {
  if (name !== 'last') return name
  const previous = trend.findLast((run) => run.run_id !== run_id)
  if (!previous) throw new UsageError('There is no completed run before this one.', 'Omit --baseline.')
  return previous.run_id
}

export async function loadReport(connection: Connection, run: Details, trend: Run[], baseline?: string): Promise<RunReport> {
  const limit = new TextLimit()
  // The texts of changes and failures matter most, so they are the first to count towards the limit.
  const compared = baseline === undefined ? undefined : await loadBaseline(connection, run, baseline, limit)
  const { results, total } = await loadResults(connection, run, limit)
  const { name } = run.configuration.evaluation as { name?: string }
  return { name: name ?? 'Evaluation', run, results, omittedResults: total - results.length, baseline: compared, trend }
}

async function loadBaseline(
  connection: Connection,
  { evaluation_id: id, run_id }: Details,
  baseline: string,
  limit: TextLimit,
): Promise<RunReport['baseline']> {
  const { data: run } = await call(connection, runRoutes.getRun, { params: { id, run_id: baseline } })
  const { data } = await call(connection, runRoutes.compare, { params: { id }, query: { a: baseline, b: run_id } })
  const { changes, ...comparison } = data
  const reported = changes.map(({ change, position, input, expected_output, a, b }): ReportedChange => {
    const texts = {
      expected: shorten(limit, expected_output),
      before: shorten(limit, a.actual_output, a.omitted_characters),
      now: shorten(limit, b.actual_output, b.omitted_characters),
    }
    return { change, position, input: limit.shorten(input), ...texts, scores: [a.score, b.score] }
  })
  return { run, comparison, changes: reported }
}

async function loadResults(
  connection: Connection,
  { evaluation_id: id, run_id }: Details,
  limit: TextLimit,
): Promise<{ results: ReportedResult[]; total: number }> {
  const results: ReportedResult[] = []
  let total = 0
  for (const passed of [false, true]) {
    const read = async (page: number) => {
      const query = { run_id, passed, page, limit: RESULTS_PER_PAGE }
      const { data } = await call(connection, runRoutes.results, { params: { id }, query })
      return { data: data.results, pagination: data.pagination }
    }
    for await (const { data, pagination } of paginate(read)) {
      if (pagination.page === 1) total += pagination.total
      for (const result of data.slice(0, MAX_RESULTS - results.length)) results.push(shortenResult(result, limit))
      if (results.length >= MAX_RESULTS) break
    }
  }
  return { results, total }
}

function shortenResult({ input, expected_output, actual_output, citations, ...result }: RunResult, limit: TextLimit): ReportedResult {
  const cited = [...new Set(citations.filter((citation) => citation.cited).map(({ source }) => source))]
  return {
    ...result,
    input: limit.shorten(input),
    expected: shorten(limit, expected_output),
    actual: shorten(limit, actual_output),
    cited,
  }
}

/** @param omitted number of characters that the daemon left out */
function shorten(limit: TextLimit, text: string | null, omitted = 0): ShortText | undefined {
  if (text === null) return undefined
  const short = limit.shorten(text)
  return { ...short, omitted: short.omitted + omitted }
}
