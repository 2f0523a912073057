import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type ReceivedRequest, ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { runEvaluation } from './evaluation-fixture.ts'

const test = suite('limits and errors of evaluations')
let service: TestServer
let resources: Resources
let provider: ScriptedProvider

/** Repeats the question as the answer. */
const echo = streamReply(({ body }: ReceivedRequest) => ({
  text: [body.messages.at(-1).content],
  usage: { input: 11, output: 7, cached: 0 },
}))

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
    provider = await ScriptedProvider.start('openai', echo)
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await provider.close()
  }),
)

const agent = async () => resources.agent({ model_id: (await resources.model(provider.model)).id })

test('invalid evaluations are rejected before a run', async () => {
  const { id } = await resources.evaluation()
  await expectError(service.get(`/evaluations/${id}/results`), 'NOT_FOUND')
  await expectError(service.get(`/evaluations/${id}/runs/none`), 'NOT_FOUND')
  const evaluation = (fields: object) => service.post('/evaluations', { name: 'x', type: 'agent', target_id: 'none', ...fields })
  const target_id = (await agent()).id
  await expectError(evaluation({ target_id, scorers: ['json'], test_cases: [{ input: 'a', expected_output: '{' }] }), 'VALIDATION_ERROR', {
    field: 'test_cases.0.expected_output',
  })
  const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`
  await expectError(evaluation({ target_id, scorers: ['json'], test_cases: [{ input: 'a', expected_output: deep }] }), 'VALIDATION_ERROR')
  await expectError(evaluation({ target_id, scorers: ['regex'], test_cases: [{ input: 'a', expected_output: '(' }] }), 'VALIDATION_ERROR')
  const test_cases = [{ input: 'a', expected_output: 'a' }]
  await expectError(evaluation({ target_id, scorers: [{ type: 'exact', threshold: 90 }], test_cases }), 'VALIDATION_ERROR', {
    field: 'scorers.0.threshold',
  })
  const own = [{ input: 'a', scorers: ['exact', { type: 'json', threshold: 1.1 }] }]
  await expectError(evaluation({ target_id, test_cases: own }), 'VALIDATION_ERROR', { field: 'test_cases.0.scorers.1.threshold' })
  const { error, hint } = await service
    .post('/evaluations', { name: 'x', type: 'agent', target_id, scorers: ['exakt'], test_cases })
    .then(({ body }) => body)
  assert.equal([/must be one of exact, contains/.test(error), hint], [true, 'Did you mean "exact"?'])
  await expectData(service.delete(`/agents/${target_id}?force=true`))
  const gone = await resources.agent()
  const orphan = await resources.evaluation({ target_id: gone.id })
  await expectData(service.delete(`/agents/${gone.id}?force=true`))
  await expectError(service.post(`/evaluations/${orphan.id}/run`), 'CONFLICT')
})

test('an evaluation accepts 10,000 test cases and no more, by create, update and append', async () => {
  const paragraph = 'How many days of leave are there, and who decides? '.repeat(6)
  const test_cases = Array.from({ length: 10_000 }, (_, index) => ({ input: `${index} ${paragraph}`, expected_output: 'x' }))
  const { id } = await resources.evaluation({ test_cases })
  await expectError(service.post(`/evaluations/${id}/test-cases`, { test_cases: [{ input: 'x' }] }), 'VALIDATION_ERROR', {
    field: 'test_cases',
  })
  await expectError(service.put(`/evaluations/${id}`, { test_cases: [...test_cases, { input: 'x' }] }), 'VALIDATION_ERROR', {
    field: 'test_cases',
  })
  const long = { input: 'x'.repeat(100_000) }
  // sqld accepts values of up to 4 MB.
  if (isOnServer) {
    await expectError(service.put(`/evaluations/${id}`, { test_cases: Array(60).fill(long) }), 'PAYLOAD_TOO_LARGE')
    return
  }
  await expectData(service.put(`/evaluations/${id}`, { test_cases: Array(60).fill(long) }))
  await expectError(service.post(`/evaluations/${id}/test-cases`, { test_cases: Array(40).fill(long) }), 'VALIDATION_ERROR', {
    field: 'test_cases',
  })
  await expectError(service.put(`/evaluations/${id}`, { test_cases: Array(90).fill(long) }), 'PAYLOAD_TOO_LARGE')
})

test('identical texts have similarity 1, an empty text 0', async () => {
  const cases = [
    ['The cat sits on the mat', 'The cat sits on the mat', 1],
    ['x', '', 0],
  ] as const
  const { id } = await resources.evaluation({
    target_id: (await agent()).id,
    scorers: [{ type: 'similarity', threshold: 1 }],
    test_cases: cases.map(([input, expected_output]) => ({ input, expected_output })),
  })
  const { results } = await runEvaluation(service, id)
  assert.equal(
    results.map(({ score, passed }: Json) => [score, passed]),
    cases.map(([, , score]) => [score, score === 1]),
  )
})

test('a run fails if its results cannot be stored', async () => {
  const { id } = await resources.evaluation({
    target_id: (await agent()).id,
    concurrency: 1,
    test_cases: Array(50).fill({ input: 'say: a', expected_output: 'a' }),
  })
  const heard: unknown[] = []
  const hear = (reason: unknown) => heard.push(reason)
  process.on('unhandledRejection', hear)
  await service.database.write((transaction) =>
    transaction.run("CREATE TRIGGER full BEFORE INSERT ON evaluation_results BEGIN SELECT RAISE(ABORT, 'disk full'); END"),
  )
  try {
    const { status, error } = await runEvaluation(service, id)
    assert.equal([status, /Internal error/.test(error)], ['failed', true])
    const told = await service.database.all<{ body: string }>(
      "SELECT body FROM events WHERE type = 'evaluation.finished' AND body LIKE ?",
      [`%${id}%`],
    )
    assert.equal(
      told.map(({ body }) => JSON.parse(body).data.status),
      ['failed'],
      'followers are notified of the end',
    )
    assert.ok(provider.received.length < 50, 'the run stops early')
    const calls = await service.database.all<{ status: string }>('SELECT status FROM usage_calls WHERE evaluation_id = ?', [id])
    assert.ok(calls.length > 0 && calls.every((call) => call.status === 'done'), 'usage is counted')
  } finally {
    await service.database.write((transaction) => transaction.run('DROP TRIGGER full'))
    process.off('unhandledRejection', hear)
  }
  assert.equal(heard, [])
})

test.run()
