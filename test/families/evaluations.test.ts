import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('evaluations and thresholds')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const evaluate = async (fields: Record<string, unknown> = {}) =>
  server.post('/evaluations', {
    name: 'x',
    type: 'agent',
    target_id: (await resources.agent()).id,
    test_cases: [{ input: 'q' }],
    ...fields,
  })
const threshold = (fields: Record<string, unknown> = {}) =>
  server.post('/usage/thresholds', { metric: 'tokens', limit: 1, period: 'day', ...fields })

test('the default scorer of an evaluation is contains', async () => {
  const agent = await resources.agent()
  const { id: _, created_at: __, updated_at: ___, ...evaluation } = await expectData(evaluate({ target_id: agent.id }), 201)
  assert.equal(evaluation, {
    name: 'x',
    description: '',
    type: 'agent',
    target_id: agent.id,
    scorers: [{ type: 'contains' }],
    concurrency: 4,
    repeats: 1,
    test_cases: [{ input: 'q' }],
  })
})

test('a scorer can be a name or an object, in evaluations and test cases', async () => {
  const judge = await resources.model()
  const scorers = ['exact', { type: 'similarity', threshold: 0.8 }, { type: 'llm_judge', model_id: judge.id, instructions: 'be kind' }]
  const test_cases = [{ input: 'q', expected_output: 'a', metadata: { group: 1 }, variables: { x: 'y' }, scorers: ['regex'] }]
  const evaluation = await expectData(evaluate({ scorers, test_cases }))
  assert.equal(evaluation.scorers, [{ type: 'exact' }, scorers[1], scorers[2]])
  assert.equal(evaluation.test_cases, [{ ...test_cases[0], scorers: [{ type: 'regex' }] }])
  for (const type of ['exact', 'contains', 'regex', 'json', 'similarity', 'token_f1', 'llm_judge', 'citation', 'latency', 'cost'])
    await expectData(evaluate({ scorers: [type] }), 201)
  for (const wrong of [[], ['nonsense'], [{ type: 'exact', threshold: -1 }], [{ threshold: 1 }], 'exact', [{ type: 'exact', extra: 1 }]])
    await expectError(evaluate({ scorers: wrong }), 'VALIDATION_ERROR')
  await expectError(evaluate({ scorers: [{ type: 'llm_judge', model_id: 'nothing' }] }), 'VALIDATION_ERROR', {
    field: 'scorers.0.model_id',
  })
  await expectError(evaluate({ test_cases: [{ input: 'q', scorers: [{ type: 'llm_judge', model_id: 'nothing' }] }] }), 'VALIDATION_ERROR', {
    field: 'test_cases.0.scorers.0.model_id',
  })
})

test('a judge can be given by id, provider model name or name', async () => {
  const judge = await resources.model({ name: 'Strict judge', model_id: 'judge-8b' })
  const scorers = [judge.id, 'judge-8b', 'Strict judge'].map((model_id) => ({ type: 'llm_judge', model_id }))
  const all = scorers.map((scorer) => ({ ...scorer, model_id: judge.id }))
  const { id, ...made } = await expectData(evaluate({ scorers, test_cases: [{ input: 'q', scorers }] }), 201)
  assert.equal([made.scorers, made.test_cases[0].scorers], [all, all])
  assert.equal((await expectData(server.put(`/evaluations/${id}`, { scorers: [scorers[2]] }))).scorers, [all[2]])
  assert.is((await expectData(server.post('/agents', { name: 'x', model_id: 'Strict judge' }), 201)).model_id, judge.id)
  const twin = await resources.model({ name: 'Strict judge' })
  await expectError(evaluate({ scorers: [scorers[2]] }), 'VALIDATION_ERROR', {
    field: 'scorers.0.model_id',
    hint: new RegExp(`${judge.id} or ${twin.id}`),
  })
})

test('a forced delete of a judge resets its scorers to the default model', async () => {
  const judge = await resources.model()
  const scorer = { threshold: 0.5, model_id: judge.id, type: 'llm_judge', instructions: 'be kind' }
  const { id } = await expectData(evaluate({ scorers: [scorer], test_cases: [{ input: 'q', scorers: [scorer, 'exact'] }] }))
  await expectError(server.delete(`/models/${judge.id}`), 'CONFLICT')
  await expectData(server.delete(`/models/${judge.id}?force=true`))
  const { model_id: _, ...left } = scorer
  const evaluation = await expectData(server.get(`/evaluations/${id}`))
  assert.equal([evaluation.scorers, evaluation.test_cases[0].scorers], [[left], [left, { type: 'exact' }]])
})

test('the target of an evaluation must exist and match its type', async () => {
  const targets = {
    agent: await resources.agent(),
    rag_tool: await resources.ragTool(),
    prompt_template: await resources.template(),
    model: await resources.model(),
  }
  for (const [type, { id }] of Object.entries(targets)) {
    for (const [other, target] of Object.entries(targets)) {
      if (type === other) assert.is((await expectData(evaluate({ type, target_id: id }), 201)).target_id, id)
      else await expectError(evaluate({ type, target_id: target.id }), 'VALIDATION_ERROR', { field: 'target_id' })
    }
  }
  await expectError(evaluate({ type: 'webhook' }), 'VALIDATION_ERROR', { field: 'type' })
  const { id } = await expectData(evaluate())
  await expectError(server.put(`/evaluations/${id}`, { type: 'model' }), 'VALIDATION_ERROR', { field: 'target_id' })
  await expectError(server.put(`/evaluations/${id}`, { target_id: 'agent_nothing' }), 'VALIDATION_ERROR', { field: 'target_id' })
  assert.is((await expectData(server.put(`/evaluations/${id}`, { type: 'model', target_id: targets.model.id }))).type, 'model')
})

test('an evaluation requires test cases, and an update replaces them all', async () => {
  for (const test_cases of [[], [{}], [{ input: '' }], [{ expected_output: 'x' }], 'q', [{ input: 'q', expected: 'a' }]])
    await expectError(evaluate({ test_cases }), 'VALIDATION_ERROR')
  const { id } = await expectData(evaluate({ test_cases: [{ input: 'a' }, { input: 'b' }] }))
  assert.equal((await expectData(server.put(`/evaluations/${id}`, { test_cases: [{ input: 'c', expected_output: 'd' }] }))).test_cases, [
    { input: 'c', expected_output: 'd' },
  ])
  const many = Array.from({ length: 5_000 }, (_, index) => ({ input: `question ${index}`, expected_output: `answer ${index}` }))
  const large = await expectData(evaluate({ test_cases: many }))
  assert.equal((await expectData(server.get(`/evaluations/${large.id}`))).test_cases, many)
  const [listed] = await expectData(server.get(`/evaluations?id=${large.id}`))
  assert.not.ok('test_cases' in listed)
})

test('a threshold without an entity applies to all usage', async () => {
  const { id: _, created_at: __, updated_at: ___, ...made } = await expectData(threshold(), 201)
  assert.equal(made, { name: '', metric: 'tokens', limit: 1, period: 'day', entity_type: null, entity_id: null, action: 'notify' })
})

test('the entity of a threshold must exist and have a type and an id', async () => {
  const entities = {
    agent: await resources.agent(),
    model: await resources.model(),
    rag_tool: await resources.ragTool(),
    prompt_template: await resources.template(),
    evaluation: await resources.evaluation(),
  }
  for (const [entity_type, { id }] of Object.entries(entities)) {
    await expectData(threshold({ entity_type, entity_id: id }), 201)
    await expectError(threshold({ entity_type, entity_id: 'nothing' }), 'VALIDATION_ERROR', { field: 'entity_id' })
  }
  await expectData(threshold({ entity_type: 'user', entity_id: 'anybody' }), 201)
  await expectError(threshold({ entity_type: 'agent' }), 'VALIDATION_ERROR', { hint: /Omit both/ })
  await expectError(threshold({ entity_id: 'x' }), 'VALIDATION_ERROR')
  await expectError(threshold({ entity_type: 'webhook', entity_id: 'x' }), 'VALIDATION_ERROR', { field: 'entity_type' })
})

test('threshold fields are validated, and its entity cannot be changed', async () => {
  for (const fields of [{ limit: -1 }, { limit: 1e16 }, { limit: '5' }, { metric: 'words' }, { period: 'week' }, { action: 'warn' }])
    await expectError(threshold(fields), 'VALIDATION_ERROR', { field: Object.keys(fields)[0] as string })
  for (const limit of [0, 0.000001, 1e15]) assert.is((await expectData(threshold({ limit }))).limit, limit)
  const made = await expectData(threshold({ entity_type: 'user', entity_id: 'ada' }))
  const after = await expectData(server.put(`/usage/thresholds/${made.id}`, { limit: 2, metric: 'cost', period: 'month', action: 'block' }))
  assert.equal([after.limit, after.metric, after.period, after.action, after.entity_id], [2, 'cost', 'month', 'block', 'ada'])
  await expectError(server.put(`/usage/thresholds/${made.id}`, { entity_id: 'bob' }), 'VALIDATION_ERROR', { field: 'entity_id' })
})

test('thresholds can be listed under /usage/thresholds', async () => {
  const made = await expectData(threshold())
  assert.ok((await expectData(server.get('/usage/thresholds?limit=100'))).some(({ id }: Json) => id === made.id))
})

test.run()
