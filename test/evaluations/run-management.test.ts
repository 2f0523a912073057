import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { countResume } from '../../daemon/store/job-resumes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { hang, type ReceivedRequest, ScriptedProvider, type Step, streamReply } from '../harness/scripted-provider.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { runEvaluation, waitForEnd } from './evaluation-fixture.ts'

const test = suite('managing evaluation runs')
let service: TestServer
let resources: Resources
let provider: ScriptedProvider

const getInput = ({ body }: ReceivedRequest): string => body.messages.at(-1).content

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
    provider = await ScriptedProvider.start('openai', hang)
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await provider.close()
  }),
)
const setStep = (step: Step) => {
  provider.script = [step]
}

test.before.each(() => {
  provider.received.length = 0
  // The reply to "say: x" is x; any other input is repeated.
  setStep(streamReply((received) => ({ text: [getInput(received).replace(/^say: /, '')], usage: { input: 11, output: 7, cached: 0 } })))
})

const createModel = () => resources.model({ ...provider.model, pricing: { input: 1, output: 2 } })
const createAgent = async (fields: Record<string, unknown> = {}) => resources.agent({ model_id: (await createModel()).id, ...fields })

test('a run is found without its evaluation', async () => {
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id })
  const { run_id } = await runEvaluation(service, id)
  const found = await expectData(service.get(`/evaluation-runs/${run_id}`))
  assert.equal(found, await expectData(service.get(`/evaluations/${id}/runs/${run_id}`)))
  assert.is(found.evaluation_id, id)
  await expectError(service.get(`/evaluation-runs/run_${'0'.repeat(8)}`), 'NOT_FOUND')
})

test('a cancelled run keeps its results', async () => {
  setStep((response, received, wire) => (getInput(received) === 'wait' ? hang : streamReply({ text: ['x'] }))(response, received, wire))
  const { id } = await resources.evaluation({
    target_id: (await createAgent()).id,
    test_cases: [
      { input: 'say', expected_output: 'x' },
      { input: 'wait', expected_output: 'x' },
      { input: 'never asked', expected_output: 'x' },
    ],
    concurrency: 1,
  })
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`))
  await waitFor(async () => (await expectData(service.get(`/evaluations/${id}/runs/${run_id}`))).done >= 1 && provider.received.length >= 2)
  assert.is((await expectData(service.post(`/evaluations/${id}/runs/${run_id}/cancel`))).status, 'cancelled')
  await provider.received.at(-1)?.closed
  const { status, summary, results } = await waitForEnd(service, id, run_id)
  assert.equal([status, summary.total, summary.passed, results.length], ['cancelled', 3, 1, 1])
  assert.is((await expectData(service.post(`/evaluations/${id}/runs/${run_id}/cancel`))).status, 'cancelled')
  const events = await service.database.all<{ body: string }>(
    "SELECT body FROM events WHERE type = 'evaluation.finished' AND body LIKE ?",
    [`%${run_id}%`],
  )
  const [event, another] = events.map(({ body }) => JSON.parse(body).data)
  assert.equal([event.status, event.summary.passed, another], ['cancelled', 1, undefined], 'one evaluation.finished event')
  const calls = await service.database.all<{ status: string; input_tokens: number }>(
    'SELECT * FROM usage_calls WHERE evaluation_id = ? ORDER BY id',
    [id],
  )
  assert.equal(
    calls.map(({ status, input_tokens }) => [status, input_tokens > 0]),
    [
      ['done', true],
      ['aborted', true],
      ['aborted', false],
    ],
    'a prepared call that was not sent used no tokens',
  )
})

test('runs resume after a restart and keep their results', async () => {
  const waiting: (() => void)[] = []
  setStep(async (response, received, wire) => {
    if (getInput(received) !== 'a') await new Promise<void>((resolve) => waiting.push(resolve))
    return streamReply({ text: [getInput(received)] })(response, received, wire)
  })
  const cases = ['a', 'b', 'c'].map((input) => ({ input, expected_output: input }))
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id, test_cases: cases, concurrency: 1 })
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`))
  await waitFor(async () => (await expectData(service.get(`/evaluations/${id}/runs/${run_id}`))).done >= 1 && provider.received.length >= 2)
  setStep(streamReply((received) => ({ text: [getInput(received)] })))
  const stoppedHome = await service.stop()
  for (const release of waiting) release()
  service = await TestServer.start({ home: stoppedHome })
  resources = new Resources(service)
  const { status, results } = await waitForEnd(service, id, run_id)
  assert.equal([status, results.map(({ actual_output }: Json) => actual_output)], ['completed', ['a', 'b', 'c']])
  assert.equal(provider.received.map(getInput).filter((input) => input === 'a').length, 1, 'a finished test case does not run again')
})

test('the resumes of a queued run are forgotten when it is cancelled or its evaluation is deleted', async () => {
  setStep(hang)
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id, test_cases: [{ input: 'x' }] })
  const start = async () => (await expectData(service.post(`/evaluations/${id}/run`))).run_id as string
  const runs: string[] = []
  for (let count = 0; count < 6; count++) runs.push(await start())
  const [cancelled = '', deleted = ''] = runs.slice(4)
  for (const run of [cancelled, deleted]) await service.database.write((transaction) => countResume(transaction, 'run', run))
  const listResumed = async () =>
    (await service.database.all<{ job_id: string }>('SELECT job_id FROM job_resumes')).map((row) => row.job_id)
  assert.is((await expectData(service.get(`/evaluations/${id}/runs/${cancelled}`))).status, 'queued')
  await expectData(service.post(`/evaluations/${id}/runs/${cancelled}/cancel`))
  assert.equal(await listResumed(), [deleted])
  await service.delete(`/evaluations/${id}`)
  assert.equal(await listResumed(), [])
})

test('two runs are compared', async () => {
  const helper = await createAgent()
  const { id } = await resources.evaluation({
    target_id: helper.id,
    test_cases: [
      { input: 'say: a', expected_output: 'a' },
      { input: 'say: b', expected_output: 'b' },
    ],
  })
  const a = (await runEvaluation(service, id)).run_id
  setStep(streamReply((received) => ({ text: [getInput(received) === 'say: a' ? 'a' : 'wrong'] })))
  const b = (await runEvaluation(service, id)).run_id
  const { better, worse, same, verdict, changes } = await expectData(service.get(`/evaluations/${id}/runs/compare?a=${a}&b=${b}`))
  assert.equal([better, worse, same, verdict, changes.length, changes[0].b.actual_output], [0, 1, 1, 'same', 1, 'wrong'])
  const listed = await expectData(service.get(`/evaluations/${id}/runs`))
  assert.equal(
    listed.map(({ run_id }: Json) => run_id),
    [b, a],
  )
  await expectError(service.get(`/evaluations/${id}/runs/compare?a=${a}&b=none`), 'NOT_FOUND')
})

test('a comparison shortens answers that are too long together', async () => {
  const test_cases = Array.from({ length: 10 }, (_, index) => ({ input: `say: ${index}`, expected_output: String(index) }))
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id, test_cases })
  const a = (await runEvaluation(service, id)).run_id
  setStep(streamReply({ text: ['wrong'] }))
  const b = (await runEvaluation(service, id)).run_id
  const sql = "UPDATE evaluation_results SET details = json_set(details, '$.actual_output', ?) WHERE run_id = ? AND position = 3"
  await service.database.write((transaction) => transaction.run(sql, ['x'.repeat(1_000_007), b]))
  const { changes } = await expectData(service.get(`/evaluations/${id}/runs/compare?a=${a}&b=${b}`))
  assert.equal(
    [changes[2].b, changes[3].a],
    [
      { score: 0, passed: false, actual_output: 'wrong' },
      { score: 1, passed: true, actual_output: '3' },
    ],
  )
  const { actual_output, omitted_characters } = changes[3].b
  assert.equal([actual_output.length, omitted_characters], [1_000_000, 7])
})

test('results are paged and filtered', async () => {
  const cases = Array.from({ length: 5 }, (_, index) => ({ input: `say: ${index}`, expected_output: index < 2 ? 'x' : String(index) }))
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id, test_cases: cases })
  await runEvaluation(service, id)
  const failed = await expectData(service.get(`/evaluations/${id}/results?passed=false`))
  assert.equal([failed.results.length, failed.pagination.total, failed.summary.total], [2, 2, 5])
  const page = await expectData(service.get(`/evaluations/${id}/results?limit=2&page=3`))
  assert.equal([page.results.map(({ position }: Json) => position), page.pagination], [[4], { page: 3, limit: 2, total: 5, pages: 3 }])
  const beyond = await expectData(service.get(`/evaluations/${id}/results?page=2`))
  assert.equal([beyond.results, beyond.pagination], [[], { page: 2, limit: 5, total: 5, pages: 1 }])
  await service.database.write((transaction) =>
    transaction.run(
      `WITH RECURSIVE repeats (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM repeats WHERE n < 201)
        INSERT INTO evaluation_results (run_id, position, repeat, passed, tokens, details)
        SELECT run_id, position, n, passed, tokens, details FROM evaluation_results, repeats WHERE run_id = ?`,
      [failed.run_id],
    ),
  )
  await resources.agent() // the server caches rows until its next commit
  const first = await expectData(service.get(`/evaluations/${id}/results`))
  assert.equal([first.results.length, first.pagination], [1000, { page: 1, limit: 1000, total: 1005, pages: 2 }])
  assert.is((await expectData(service.get(`/evaluations/${id}/results?page=2`))).results.length, 5)
})

test('deleting an evaluation ends its runs', async () => {
  setStep(hang)
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id })
  await expectData(service.post(`/evaluations/${id}/run`))
  await waitFor(() => provider.received.length >= 1)
  await expectData(service.delete(`/evaluations/${id}`))
  await provider.received[0]?.closed
  assert.equal(await service.database.all('SELECT run_id FROM evaluation_results WHERE run_id NOT IN (SELECT id FROM evaluation_runs)'), [])
})

test.run()

test.run()
