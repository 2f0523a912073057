import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Static } from 'typebox'
import { MAX_RESULTS_PER_PAGE, type Run, type RunResult, type runRoutes } from '../../src/contract/families/evaluation-runs.ts'
import { DEFAULT_LIMIT, type ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller } from '../core/caller.ts'
import { readCurrency } from '../core/currency.ts'
import { type DatabaseReader, listColumn, type Transaction, type Value } from '../store/database.ts'
import { forgetResumes } from '../store/job-resumes.ts'
import type { Page } from '../store/records.ts'
import type { StoredEvaluation } from './store.ts'

type Summary = Run['summary']
export type Result = RunResult
export type ResultQuery = Static<typeof runRoutes.results.query>
export type TestCase = StoredEvaluation['test_cases'][number]

/** The evaluation and its target as they were at the start of the run. */
interface RunConfiguration extends Record<string, unknown> {
  evaluation: Pick<StoredEvaluation, 'name' | 'type' | 'target_id' | 'scorers'>
  target: Record<string, unknown>
}

export interface StoredRun extends Omit<Run, 'run_id' | 'done' | 'summary'> {
  id: string
  total: number
  caller: Caller
  configuration: RunConfiguration
  /** Stored at the end of the run; null until then. */
  summary: Summary | null
}

/** A run with its test cases, which may be large and are not loaded otherwise. */
export interface RunWithCases extends StoredRun {
  test_cases: TestCase[]
}

type RunRow = Omit<StoredRun, 'caller' | 'configuration' | 'summary'> & {
  caller: string
  configuration: string
  summary: string | null
}

const RUN_COLUMNS =
  'id, evaluation_id, status, created_at, started_at, finished_at, error, concurrency, repeats, total, caller, configuration, summary'

const toRun = (row: RunRow): StoredRun => ({
  ...row,
  caller: JSON.parse(row.caller) as Caller,
  configuration: JSON.parse(row.configuration) as RunConfiguration,
  summary: row.summary === null ? null : (JSON.parse(row.summary) as Summary),
})

export async function insertRun(transaction: Transaction, run: RunWithCases): Promise<void> {
  const { caller, configuration, test_cases, summary } = run
  const row: Record<string, Value> = {
    ...run,
    caller: JSON.stringify(caller),
    configuration: JSON.stringify(configuration),
    test_cases: JSON.stringify(test_cases),
    summary: summary === null ? null : JSON.stringify(summary),
  }
  const names = Object.keys(row)
  await transaction.run(`INSERT INTO evaluation_runs (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, Object.values(row))
}

export async function findRun(reader: DatabaseReader, evaluationId: string, runId: string): Promise<StoredRun | undefined> {
  const sql = `SELECT ${RUN_COLUMNS} FROM evaluation_runs WHERE id = ? AND evaluation_id = ?`
  const row = await reader.get<RunRow>(sql, [runId, evaluationId])
  return row && toRun(row)
}

export async function findEvaluationOfRun(reader: DatabaseReader, runId: string): Promise<string | undefined> {
  return (await reader.get<{ evaluation_id: string }>('SELECT evaluation_id FROM evaluation_runs WHERE id = ?', [runId]))?.evaluation_id
}

export async function findNewestRun(reader: DatabaseReader, evaluationId: string): Promise<StoredRun | undefined> {
  const sql = `SELECT ${RUN_COLUMNS} FROM evaluation_runs WHERE evaluation_id = ? ORDER BY created_at DESC, id DESC LIMIT 1`
  const row = await reader.get<RunRow>(sql, [evaluationId])
  return row && toRun(row)
}

export async function listUnfinishedRuns(reader: DatabaseReader): Promise<RunWithCases[]> {
  const rows = await reader.all<RunRow & { test_cases: string }>(
    `SELECT ${RUN_COLUMNS}, test_cases FROM evaluation_runs WHERE status IN ('queued', 'running') ORDER BY created_at, id`,
  )
  return rows.map(({ test_cases, ...row }) => ({ ...toRun(row), test_cases: JSON.parse(test_cases) as TestCase[] }))
}

export async function listTestCases(reader: DatabaseReader, runId: string): Promise<TestCase[]> {
  const row = await reader.get<{ test_cases: string }>('SELECT test_cases FROM evaluation_runs WHERE id = ?', [runId])
  return row ? (JSON.parse(row.test_cases) as TestCase[]) : []
}

export async function listRuns(reader: DatabaseReader, evaluationId: string, query: ListQuery): Promise<Page<StoredRun>> {
  const filters = (['status', 'created_at'] as const).filter((name) => query[name] !== undefined)
  const where = ['evaluation_id = ?', ...filters.map((name) => `${name} = ?`)].join(' AND ')
  const values = [evaluationId, ...filters.map((name) => query[name] as string)]
  const { limit = DEFAULT_LIMIT, page = 1 } = query
  const direction = query.order === 'asc' ? 'ASC' : 'DESC'
  const orderBy = `${query.sort === 'status' ? `status ${direction}, ` : ''}created_at ${direction}, id ${direction}`
  const sql = `SELECT ${RUN_COLUMNS} FROM evaluation_runs WHERE ${where} ORDER BY ${orderBy} LIMIT ? OFFSET ?`
  const rows = await reader.all<RunRow>(sql, [...values, limit, (page - 1) * limit])
  const count = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM evaluation_runs WHERE ${where}`, values)
  return { items: rows.map(toRun), total: count?.total ?? 0 }
}

type RunChange = Partial<Pick<StoredRun, 'status' | 'started_at' | 'finished_at' | 'error' | 'summary'>>

/** Returns false, without a change, if the run has already ended. */
export async function updateRun(transaction: Transaction, runId: string, change: RunChange): Promise<boolean> {
  const entries = Object.entries(change).map(([name, value]): [string, Value] => [
    name,
    name === 'summary' ? JSON.stringify(value) : (value as Value),
  ])
  const assignments = entries.map(([name]) => `${name} = ?`).join(', ')
  const values = entries.map(([, value]) => value)
  const sql = `UPDATE evaluation_runs SET ${assignments} WHERE id = ? AND status IN ('queued', 'running')`
  return (await transaction.run(sql, [...values, runId])) === 1
}

/** Ignores results of deleted runs. One statement for all: a call per row costs more than the insert. */
export async function insertResults(transaction: Transaction, runId: string, results: readonly Result[]): Promise<void> {
  const rows = results.map(({ position, repeat, passed, score, latency_ms, usage, cost, error, ...details }) => [
    position,
    repeat,
    Number(passed),
    score,
    latency_ms,
    usage?.total_tokens ?? 0,
    cost,
    error === null ? null : error.toWellFormed(),
    { ...details, usage },
    Number(usage?.estimated ?? false),
  ])
  await transaction.run(
    `INSERT OR IGNORE INTO evaluation_results
       (run_id, position, repeat, passed, score, latency_ms, tokens, cost, error, details, estimated)
     SELECT evaluation_runs.id, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
       value -> 8, value ->> 9
     FROM json_each(?), evaluation_runs WHERE evaluation_runs.id = ?`,
    [JSON.stringify(rows), runId],
  )
}

type ResultRow = Pick<Result, 'position' | 'repeat' | 'score' | 'latency_ms' | 'cost' | 'error'> & { passed: number; details: string }

const toResult = ({ details, passed, ...row }: ResultRow): Result => ({ ...(JSON.parse(details) as Result), ...row, passed: passed === 1 })

export async function listResults(
  reader: DatabaseReader,
  runId: string,
  { passed, page = 1, limit = MAX_RESULTS_PER_PAGE }: ResultQuery,
): Promise<Page<Result>> {
  const where = `run_id = ?${passed === undefined ? '' : ' AND passed = ?'}`
  const values: Value[] = [runId, ...(passed === undefined ? [] : [Number(passed)])]
  const count = await reader.get<{ total: number }>(`SELECT count(*) AS total FROM evaluation_results WHERE ${where}`, values)
  const total = count?.total ?? 0
  const items: Result[] = []
  while (items.length < limit) {
    const last = items.at(-1)
    const offset = last ? 0 : (page - 1) * limit
    const rows = await reader.all<ResultRow>(
      `SELECT position, repeat, passed, score, latency_ms, cost, error, details FROM evaluation_results
       WHERE ${where} AND (position, repeat) > (?, ?) ORDER BY position, repeat LIMIT ? OFFSET ?`,
      [...values, last?.position ?? -1, last?.repeat ?? 0, Math.min(BATCH_SIZE, limit - items.length), offset],
    )
    for (const row of rows) items.push(toResult(row))
    if (rows.length < BATCH_SIZE) break
    await yieldToEventLoop()
  }
  return { items, total }
}

/** Results read or deleted before yielding to the event loop. */
const BATCH_SIZE = 250

/** Returns the finished cases of a run as "position/repeat". */
export async function listFinishedCases(reader: DatabaseReader, runId: string): Promise<Set<string>> {
  const sql = "SELECT position || '/' || repeat FROM evaluation_results WHERE run_id = ?"
  return new Set(await listColumn(reader, sql, [runId]))
}

interface RunTotals {
  done: number
  passed: number
  errors: number
  average_score: number | null
  tokens: number
  cost: number | null
  unpriced: number
  timed: number
}

export async function summarizeRun(reader: DatabaseReader, runId: string, total: number): Promise<{ done: number; summary: Summary }> {
  const [totals] = (await reader.all<RunTotals>(
    `SELECT count(*) AS done, coalesce(sum(passed), 0) AS passed, count(error) AS errors, avg(score) AS average_score,
       coalesce(sum(tokens), 0) AS tokens, sum(cost) AS cost, coalesce(sum(cost IS NULL AND tokens > 0), 0) AS unpriced,
       count(latency_ms) AS timed
     FROM evaluation_results INDEXED BY figures_of_results WHERE run_id = ?`,
    [runId],
  )) as [RunTotals]
  const { done, passed, errors, average_score, tokens, cost, unpriced, timed } = totals
  const sql = 'SELECT 1 AS found FROM evaluation_results WHERE run_id = ? AND estimated = 1 LIMIT 1'
  const isEstimated = (await reader.get(sql, [runId])) !== undefined
  const getPercentile = async (share: number): Promise<number | null> => {
    if (timed === 0) return null
    const [row] = await reader.all<{ latency_ms: number }>(
      `SELECT latency_ms FROM evaluation_results INDEXED BY figures_of_results
       WHERE run_id = ? AND latency_ms IS NOT NULL ORDER BY latency_ms LIMIT 1 OFFSET ?`,
      [runId, Math.max(0, Math.ceil(share * timed) - 1)],
    )
    return row?.latency_ms ?? null
  }
  return {
    done,
    summary: {
      total,
      passed,
      failed: done - passed - errors,
      errors,
      pass_rate: done === 0 ? 0 : passed / done,
      average_score,
      latency_p50_ms: await getPercentile(0.5),
      latency_p95_ms: await getPercentile(0.95),
      tokens,
      cost: unpriced > 0 ? null : (cost ?? 0),
      currency: await readCurrency(reader),
      ...(isEstimated ? { estimated: true } : {}),
    },
  }
}

export async function deleteRuns(transaction: Transaction, evaluationId: string): Promise<void> {
  const runs = await transaction.all<{ id: string; last: number | null }>(
    'SELECT id, (SELECT max(position) FROM evaluation_results WHERE run_id = id) AS last FROM evaluation_runs WHERE evaluation_id = ?',
    [evaluationId],
  )
  for (const { id, last } of runs) {
    for (let from = 0; from <= (last ?? -1); from += BATCH_SIZE) {
      const sql = 'DELETE FROM evaluation_results WHERE run_id = ? AND position >= ? AND position < ?'
      await transaction.run(sql, [id, from, from + BATCH_SIZE])
      await yieldToEventLoop()
    }
    await forgetResumes(transaction, 'run', id)
  }
  await transaction.run('DELETE FROM evaluation_runs WHERE evaluation_id = ?', [evaluationId])
}
