import { type Static, Type } from 'typebox'
import { createAction, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { confidence } from '../schemas/confidence.ts'
import { currency } from '../schemas/currency.ts'
import { ErrorEvent } from '../schemas/error-event.ts'
import {
  count,
  flag,
  identifier,
  integer,
  jsonObject,
  measure,
  namedObject,
  nullable,
  object,
  optional,
  pick,
  stringEnum,
  timestamp,
} from '../schemas/fields.ts'
import { listQuery, Pagination } from '../schemas/list-query.ts'
import { Citation } from '../schemas/messages.ts'
import { Usage } from '../schemas/usage.ts'
import { evaluations } from './evaluations.ts'

const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

export const RunSummary = namedObject('RunSummary', 'Summary of the results.', {
  total: count('Expected number of results: test cases times repeats.'),
  passed: count('Number of results that passed.'),
  failed: count('Number of results that did not pass, without errors.'),
  errors: count('Number of results with an error.'),
  pass_rate: Type.Number({ minimum: 0, maximum: 1, description: 'Share of results that passed, from 0 to 1.' }),
  average_score: nullable(Type.Number({ description: 'Average score.' })),
  latency_p50_ms: measure('Median latency of the answers, in milliseconds.'),
  latency_p95_ms: measure('95th percentile of the latency of the answers, in milliseconds.'),
  tokens: count('Tokens used by all answers.'),
  cost: measure('Cost of all answers; null if a price is unknown.'),
  ...optional({
    currency,
    estimated: flag('True if tokens of an answer are an estimate, because the provider did not report them; else absent.'),
  }),
})

export type Run = Static<typeof Run>
export const Run = namedObject('Run', 'A run of an evaluation.', {
  run_id: identifier('the run'),
  evaluation_id: identifier('the evaluation'),
  status: stringEnum(RUN_STATUSES, { description: 'Status of the run.' }),
  created_at: timestamp('Time of the request'),
  started_at: nullable(timestamp('Start time')),
  finished_at: nullable(timestamp('End time')),
  error: nullable(Type.String({ description: 'Error message if the run failed.' })),
  concurrency: integer('Number of test cases that run at the same time.', { minimum: 1 }),
  repeats: integer('Number of times each test case runs.', { minimum: 1 }),
  done: count('Number of results so far.'),
  summary: RunSummary,
})
export const RunDetails = namedObject('RunDetails', 'A run with its configuration.', {
  ...Run.properties,
  configuration: jsonObject('Configuration at the time of the run: the target, its prompt, model and index, and the scorers.'),
})

export type RunResult = Static<typeof RunResult>
export const RunResult = namedObject('RunResult', 'The outcome of one test case.', {
  position: count('Position of the test case, from 0.'),
  repeat: integer('Number of the repeat, from 1.', { minimum: 1 }),
  input: Type.String({ description: 'Input of the test case.' }),
  expected_output: nullable(Type.String({ description: 'Expected output of the test case.' })),
  actual_output: nullable(Type.String({ description: 'Answer of the target.' })),
  passed: flag('Whether all scorers passed.'),
  score: nullable(Type.Number({ description: 'Average of the scores.' })),
  scores: jsonObject('Score, passed, threshold and reason of each scorer.'),
  latency_ms: measure('Latency of the answer, in milliseconds.'),
  usage: nullable(Usage),
  cost: measure('Cost of the answer; null if the price is unknown.'),
  error: nullable(Type.String({ description: 'Error message if the test case could not be run or scored.' })),
  metadata: jsonObject('Metadata of the test case.'),
  citations: Type.Array(Citation, { description: 'Passages that the model received, and whether the answer cites them.' }),
  ...optional({ confidence }),
})
const RunResults = namedObject('RunResults', 'A run with its results.', {
  ...RunDetails.properties,
  results: Type.Array(RunResult, { description: 'Results, one per test case and repeat.' }),
  pagination: Pagination,
})

const ComparedResult = namedObject('ComparedResult', 'The outcome of a test case in one of the runs.', {
  ...pick(RunResult.properties, ['score', 'passed', 'actual_output']),
  ...optional({
    omitted_characters: count('Number of characters missing at the end of actual_output; absent if it is complete.'),
  }),
})
const ResultChange = namedObject('ResultChange', 'A test case with different outcomes.', {
  position: count('Position of the test case in b.'),
  ...pick(RunResult.properties, ['input', 'expected_output']),
  change: stringEnum(['better', 'worse'], { description: 'Change from a to b.' }),
  a: ComparedResult,
  b: ComparedResult,
})
export type RunComparison = Static<typeof RunComparison>
export const RunComparison = namedObject('RunComparison', 'Comparison of two runs.', {
  a: Run,
  b: Run,
  better: count('Number of test cases that are better in b.'),
  worse: count('Number of test cases that are worse in b.'),
  same: count('Number of test cases without a difference.'),
  only_a: count('Number of test cases that exist only in a.'),
  only_b: count('Number of test cases that exist only in b.'),
  pass_rate_change: Type.Number({ description: 'Pass rate of b minus pass rate of a, for the test cases of both.' }),
  p_value: Type.Number({ minimum: 0, maximum: 1, description: 'p-value of a two-sided sign test.' }),
  verdict: stringEnum(['better', 'worse', 'same'], { description: 'Result for b; same if the p-value is above 0.05.' }),
  changes: Type.Array(ResultChange, { description: 'Test cases with a difference, worse first.' }),
})

const run = { family: 'evaluations', params: object({ id: identifier('the evaluation'), run_id: identifier('the run') }) }
const RunEvent = namedObject('RunEvent', 'Data of `progress` and `end`: the run.', { run: Run })
const RUN_EVENTS = { progress: RunEvent, end: RunEvent, error: ErrorEvent }
export const MAX_RESULTS_PER_PAGE = 1_000

export const runRoutes = {
  run: route({
    ...createAction(evaluations, 'run'),
    callsModel: true,
    callsExternalService: true,
    summary: 'Run an evaluation',
    description: 'Starts the run and returns it immediately.',
    access: 'write',
    body: namedObject(
      'RunCreate',
      'Settings of a new run.',
      optional({
        concurrency: integer('Number of test cases that run at the same time. Default: the value of the evaluation.', {
          minimum: 1,
          maximum: 64,
        }),
        repeats: integer('Number of times each test case runs. Default: the value of the evaluation.', { minimum: 1, maximum: 20 }),
      }),
      [{ concurrency: 8 }],
    ),
    response: Run,
  }),
  results: route({
    ...createAction(evaluations, 'results', 'GET'),
    summary: 'List results of a run',
    description: 'Returns a page of the results of the latest run, or of run_id, in the order of the test cases.',
    access: 'read',
    query: object(
      optional({
        run_id: identifier('the run'),
        passed: flag('Filter by passed.'),
        page: integer('Page number, from 1.', { minimum: 1, maximum: 1_000_000, default: 1 }),
        limit: integer('Number of results per page. Default: all, at most 1,000.', { minimum: 1, maximum: MAX_RESULTS_PER_PAGE }),
      }),
    ),
    response: RunResults,
  }),
  runs: route({
    ...createAction(evaluations, 'runs', 'GET'),
    summary: 'List runs of an evaluation',
    access: 'read',
    query: listQuery(object({ status: Run.properties.status, created_at: Run.properties.created_at })),
    response: Run,
    shape: 'page',
  }),
  cancel: route({
    ...run,
    id: 'evaluations.runs.cancel',
    method: 'POST',
    path: '/evaluations/{id}/runs/{run_id}/cancel',
    summary: 'Cancel a run',
    description: 'Keeps the results so far.',
    access: 'write',
    response: Run,
  }),
  compare: route({
    family: 'evaluations',
    params: idParams('evaluation'),
    id: 'evaluations.runs.compare',
    method: 'GET',
    path: '/evaluations/{id}/runs/compare',
    summary: 'Compare two runs',
    description: 'Shortens long answers if there are many differences. The results of each run have the complete answers.',
    access: 'read',
    query: object({ a: identifier('the baseline run'), b: identifier('the run to compare') }),
    response: RunComparison,
  }),
  getRun: route({
    ...run,
    id: 'evaluations.runs.get',
    method: 'GET',
    path: '/evaluations/{id}/runs/{run_id}',
    summary: 'Get a run',
    access: 'read',
    response: RunDetails,
  }),
  findRun: route({
    family: 'evaluations',
    params: object({ run_id: identifier('the run') }),
    id: 'evaluations.runs.find',
    method: 'GET',
    path: '/evaluation-runs/{run_id}',
    summary: 'Get a run without its evaluation',
    description: 'Returns the run with its evaluation_id.',
    access: 'read',
    response: RunDetails,
  }),
  runEvents: route({
    ...run,
    id: 'evaluations.runs.events',
    method: 'GET',
    path: '/evaluations/{id}/runs/{run_id}/events',
    summary: 'Follow a run',
    description: 'Streams progress events {run} for new results, then one end event {run}.',
    access: 'read',
    response: Type.String(),
    shape: 'events',
    events: RUN_EVENTS,
  }),
}
