/** Runs of evaluations: what came out, kept with exactly what was run. */
import { Type } from 'typebox'
import { idParams } from '../crud.ts'
import { route } from '../route.ts'
import { identifier, jsonObject, nullable, object, optional, stringEnum, timestamp } from '../schemas/fields.ts'
import { listQuery } from '../schemas/list-query.ts'
import { Citation, Usage } from './conversations.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const measure = (description: string) => nullable(Type.Number({ minimum: 0, description }))

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

export const RunSummary = object(
  {
    total: count('Results there will be: test cases times repeats.'),
    passed: count('Results that passed.'),
    failed: count('Results that did not pass, errors aside.'),
    errors: count('Test cases that could not be run or scored.'),
    pass_rate: Type.Number({ minimum: 0, maximum: 1, description: 'Share of passed among the results so far.' }),
    average_score: nullable(Type.Number({ description: 'Mean score.' })),
    latency_p50_ms: measure('Time in which half of the answers were there.'),
    latency_p95_ms: measure('Time in which 95 of 100 answers were there.'),
    tokens: count('Tokens of all answers.'),
    cost: measure('What the answers cost; null where a price is not known.'),
  },
  { description: 'The results in numbers.' },
)

export const Run = object(
  {
    run_id: identifier('the run'),
    evaluation_id: identifier('the evaluation'),
    status: stringEnum(RUN_STATUSES, { description: 'Where it stands.' }),
    created_at: timestamp('When it was asked for'),
    started_at: nullable(timestamp('When it began')),
    finished_at: nullable(timestamp('When it ended')),
    error: nullable(Type.String({ description: 'Why it failed as a whole.' })),
    concurrency: Type.Integer({ minimum: 1, description: 'Test cases that ran at the same time.' }),
    repeats: Type.Integer({ minimum: 1, description: 'How often each test case ran.' }),
    done: count('Results so far.'),
    summary: RunSummary,
  },
  { description: 'One run of an evaluation.' },
)
export const RunDetails = object(
  {
    ...Run.properties,
    configuration: jsonObject('Exactly what was run: the target, its prompt, model and index, and the scorers, as they were then.'),
  },
  { description: 'A run with what was run.' },
)

export const RunResult = object({
  position: Type.Integer({ minimum: 0, description: 'Place of the test case, from 0.' }),
  repeat: Type.Integer({ minimum: 1, description: 'Which repeat of it.' }),
  input: Type.String({ description: 'What was asked.' }),
  expected_output: nullable(Type.String({ description: 'What was expected.' })),
  actual_output: nullable(Type.String({ description: 'What was answered.' })),
  passed: Type.Boolean({ description: 'Whether every scorer was content.' }),
  score: nullable(Type.Number({ description: 'Mean of the scores.' })),
  scores: jsonObject('What each scorer said: score, passed, threshold and reason.'),
  latency_ms: measure('How long the answer took.'),
  usage: nullable(Usage),
  cost: measure('What the answer cost; null where the price is not known.'),
  error: nullable(Type.String({ description: 'Why it could not be run or scored.' })),
  metadata: jsonObject('As the test case has it.'),
  citations: Type.Array(Citation, { description: 'Passages the answer was given, and whether it cites them.' }),
})

const ComparisonSide = object({ score: nullable(Type.Number()), passed: Type.Boolean(), actual_output: nullable(Type.String()) })
export const RunComparison = object(
  {
    a: Run,
    b: Run,
    better: count('Test cases that b does better.'),
    worse: count('Test cases that b does worse.'),
    same: count('Test cases without a difference.'),
    only_a: count('Test cases only a has.'),
    only_b: count('Test cases only b has.'),
    pass_rate_change: Type.Number({ description: 'Pass rate of b less that of a, of the test cases that both have.' }),
    p_value: Type.Number({ minimum: 0, maximum: 1, description: 'Of a two-sided sign test: how likely such a difference is by chance.' }),
    verdict: stringEnum(['better', 'worse', 'same'], { description: 'What b is, where the sign test says so at 0.05; else same.' }),
    changes: Type.Array(
      object({
        position: Type.Integer({ minimum: 0, description: 'Place of the test case in b.' }),
        input: Type.String({ description: 'What was asked.' }),
        expected_output: nullable(Type.String({ description: 'What was expected.' })),
        change: stringEnum(['better', 'worse'], { description: 'What b is here.' }),
        a: ComparisonSide,
        b: ComparisonSide,
      }),
      { description: 'Test cases with a difference, worse ones first.' },
    ),
  },
  { description: 'Two runs side by side.' },
)

const action = { family: 'evaluations', params: idParams('evaluation') }
const oneRun = { family: 'evaluations', params: object({ id: identifier('the evaluation'), run_id: identifier('the run') }) }
/** Runs have up to tens of thousands of results, which are read at one go. */
export const MAX_RESULTS_PER_PAGE = 1_000

export const runRoutes = {
  run: route({
    ...action,
    id: 'evaluations.run',
    callsExternalService: true,
    method: 'POST',
    path: '/evaluations/{id}/run',
    summary: 'Run an evaluation',
    description: 'Answers at once with the run; results fill as it goes.',
    access: 'change',
    body: object(
      optional({
        concurrency: Type.Integer({
          minimum: 1,
          maximum: 64,
          description: "Test cases at the same time; the evaluation's own when left out.",
        }),
        repeats: Type.Integer({
          minimum: 1,
          maximum: 20,
          description: "How often each test case runs; the evaluation's own when left out.",
        }),
      }),
      { examples: [{ concurrency: 8 }] },
    ),
    response: Run,
  }),
  results: route({
    ...action,
    id: 'evaluations.results',
    method: 'GET',
    path: '/evaluations/{id}/results',
    summary: 'Results of a run',
    description:
      'Of the newest run, or of the one that run_id names. All of them in the order of the test cases, unless limit asks for a page.',
    access: 'read',
    query: object(
      optional({
        run_id: identifier('the run'),
        passed: Type.Boolean({ description: 'Only those that passed, or only those that did not.' }),
        page: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Page number, from 1.' }),
        limit: Type.Integer({ minimum: 1, maximum: MAX_RESULTS_PER_PAGE, description: 'Results a page; all of them when left out.' }),
      }),
    ),
    response: object({
      ...RunDetails.properties,
      results: Type.Array(RunResult, { description: 'One a test case and repeat.' }),
      pagination: object({
        page: count('This page.'),
        limit: count('Results a page.'),
        total: count('Results that match.'),
        pages: count('Pages there are.'),
      }),
    }),
  }),
  runs: route({
    ...action,
    id: 'evaluations.runs',
    method: 'GET',
    path: '/evaluations/{id}/runs',
    summary: 'List the runs of an evaluation',
    access: 'read',
    query: listQuery(object({ status: Run.properties.status, created_at: timestamp('When it was asked for') })),
    response: Run,
    shape: 'page',
  }),
  cancel: route({
    ...oneRun,
    id: 'evaluations.runs.cancel',
    method: 'POST',
    path: '/evaluations/{id}/runs/{run_id}/cancel',
    summary: 'Cancel a run',
    description: 'What has run stays.',
    access: 'change',
    response: Run,
  }),
  compare: route({
    ...action,
    id: 'evaluations.runs.compare',
    method: 'GET',
    path: '/evaluations/{id}/runs/compare',
    summary: 'Compare two runs',
    access: 'read',
    query: object({ a: identifier('the run to compare with'), b: identifier('the run that is judged') }),
    response: RunComparison,
  }),
  getRun: route({
    ...oneRun,
    id: 'evaluations.runs.get',
    method: 'GET',
    path: '/evaluations/{id}/runs/{run_id}',
    summary: 'Get a run',
    access: 'read',
    response: RunDetails,
  }),
  runEvents: route({
    ...oneRun,
    id: 'evaluations.runs.events',
    method: 'GET',
    path: '/evaluations/{id}/runs/{run_id}/events',
    summary: 'Follow a run',
    description: 'Events progress {run} as results come, then one end {run}.',
    access: 'read',
    response: Type.String(),
    shape: 'events',
  }),
}
