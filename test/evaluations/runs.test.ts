import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { hang, type ReceivedRequest, respondWithError, ScriptedProvider, type Step, streamReply } from '../harness/scripted-provider.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { runEvaluation, waitForEnd } from './evaluation-fixture.ts'

const test = suite('evaluation runs')
let service: TestServer
let resources: Resources
let provider: ScriptedProvider

const getInput = ({ body }: ReceivedRequest): string => body.messages.at(-1).content
const getSystemPrompt = ({ body }: ReceivedRequest): string => body.messages.find(({ role }: Json) => role === 'system')?.content ?? ''

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

test('results and the summary are marked as estimated if the provider does not report usage', async () => {
  const { id } = await resources.evaluation({ target_id: (await createAgent()).id, test_cases: [{ input: 'say: green' }] })
  const reported = await runEvaluation(service, id)
  assert.equal([reported.summary.estimated, reported.results[0].usage.estimated], [undefined, undefined])
  setStep(streamReply({ text: ['green'], usage: null }))
  const estimated = await runEvaluation(service, id)
  assert.equal([estimated.summary.estimated, estimated.results[0].usage.estimated], [true, true])
  assert.is(estimated.summary.tokens, estimated.results[0].usage.total_tokens)
})

test('a run asks the agent every test case and scores the answers', async () => {
  const helper = await createAgent({ system_prompt: 'Be brief.' })
  const { id } = await resources.evaluation({
    target_id: helper.id,
    test_cases: [
      { input: 'say: green', expected_output: 'green', metadata: { kind: 'good' } },
      { input: 'say: green', expected_output: 'red' },
    ],
  })
  const { status, summary, results, configuration } = await runEvaluation(service, id)
  assert.equal([status, summary.total, summary.passed, summary.failed, summary.errors, summary.pass_rate], ['completed', 2, 1, 1, 0, 0.5])
  assert.equal([summary.tokens, summary.cost, summary.average_score], [36, (2 * (11 + 14)) / 1000, 0.5])
  assert.equal([results[0].actual_output, results[0].passed, results[0].metadata], ['green', true, { kind: 'good' }])
  assert.equal([results[1].passed, results[1].score, results[1].scores.contains.passed], [false, 0, false])
  assert.equal(
    [configuration.target.agent.name, configuration.target.prompt, configuration.target.model.model_id],
    [helper.name, 'Be brief.', 'scripted'],
  )
  assert.not.match(JSON.stringify(configuration), '"api_key"')
  assert.equal(
    (await expectData(service.get('/conversations?limit=100'))).filter(({ agent_id }: Json) => agent_id === helper.id),
    [],
    'no conversation is stored',
  )
})

test('usage of a run is attributed to the evaluation and to its target', async () => {
  const helper = await createAgent()
  const { id } = await resources.evaluation({ target_id: helper.id, test_cases: [{ input: 'say: a', expected_output: 'a' }], repeats: 3 })
  await runEvaluation(service, id)
  for (const [type, entity] of [
    ['evaluation', id],
    ['agent', helper.id],
  ])
    assert.is((await expectData(service.get(`/usage/stats?entity_type=${type}&entity_id=${entity}`))).total_tokens, 54)
})

test('variables of a test case override those of the agent, and the run stores the template', async () => {
  const template = await resources.template({ template: 'Talk to {{name}} as {{role}}.' })
  const helper = await createAgent({ prompt_template_id: template.id, variables: { name: 'Ada', role: 'clerk' } })
  const { id } = await resources.evaluation({
    target_id: helper.id,
    concurrency: 1,
    test_cases: [
      { input: 'say: a', expected_output: 'a' },
      { input: 'say: b', expected_output: 'b', variables: { name: 'Grace' } },
    ],
  })
  const { configuration } = await runEvaluation(service, id)
  assert.equal(provider.received.map(getSystemPrompt), ['Talk to Ada as clerk.', 'Talk to Grace as clerk.'])
  assert.equal([configuration.target.prompt_template.id, configuration.target.prompt_template.version], [template.id, 1])
})

test('a model, a prompt template and a RAG tool can be evaluated', async () => {
  const asIs = await createModel()
  const plain = await resources.evaluation({ type: 'model', target_id: asIs.id, test_cases: [{ input: 'say: x', expected_output: 'x' }] })
  assert.is((await runEvaluation(service, plain.id)).summary.passed, 1)

  await expectData(service.put('/settings', { default_model_id: asIs.id }))
  const template = await resources.template({ template: 'Talk to {{name}}.' })
  const told = await resources.evaluation({
    type: 'prompt_template',
    target_id: template.id,
    test_cases: [
      { input: 'say: y', expected_output: 'y', variables: { name: '{{name}} & co' } },
      { input: 'say: y', expected_output: 'y' },
    ],
  })
  const { results } = await runEvaluation(service, told.id)
  assert.equal(provider.received.map(getSystemPrompt).at(-1), 'Talk to {{name}} & co.')
  assert.equal(
    [results[0].passed, results[1].passed, /no value for the template variables name/.test(results[1].error)],
    [true, false, true],
  )
  await expectData(service.put('/settings', { default_model_id: 'model_00000000-0000-7000-8000-000000000001' }))

  const source = await resources.source()
  await resources.document(
    { name: 'leave.md', content: '# Leave\n\nEvery employee gets twenty-five days of paid annual leave.' },
    source.id,
  )
  await resources.document({ name: 'travel.md', content: '# Travel\n\nTrains are booked in second class.' }, source.id)
  const tool = await resources.ragTool({ knowledge_source_id: source.id })
  await expectData(service.post(`/knowledge-sources/${source.id}/sync`))
  await waitFor(async () => (await expectData(service.get(`/knowledge-sources/${source.id}`))).status === 'active')
  const found = await resources.evaluation({
    type: 'rag_tool',
    target_id: tool.id,
    scorers: ['contains', { type: 'retrieval', k: 1 }, 'citation', { type: 'similarity', threshold: 0.3 }],
    test_cases: [{ input: 'How many days of annual leave are there?', expected_output: 'twenty-five', expected_sources: ['leave.md'] }],
  })
  const { results: answers } = await runEvaluation(service, found.id)
  assert.is(answers[0].passed, true, JSON.stringify(answers[0]))
  assert.is(answers[0].citations.find(({ cited }: Json) => cited).source, 'leave.md')
})

test('a run uses the agent as it was at its start', async () => {
  const helper = await createAgent({ system_prompt: 'old' })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  setStep(async (response, received, wire) => {
    await held
    return streamReply({ text: [getSystemPrompt(received)] })(response, received, wire)
  })
  const { id } = await resources.evaluation({
    target_id: helper.id,
    test_cases: [
      { input: 'a', expected_output: 'old' },
      { input: 'b', expected_output: 'old' },
    ],
    concurrency: 1,
  })
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`))
  await expectData(service.put(`/agents/${helper.id}`, { system_prompt: 'new' }))
  release()
  assert.is((await waitForEnd(service, id, run_id)).summary.passed, 2)
})

test('a run uses the model as it was at its first test case', async () => {
  const model = await resources.model({ ...provider.model, model_id: 'before' })
  const helper = await createAgent({ model_id: model.id })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  setStep(async (...given) => {
    await held
    return streamReply({ text: ['fine'] })(...given)
  })
  const { id } = await resources.evaluation({
    target_id: helper.id,
    test_cases: [...'abcdef'].map((input) => ({ input, expected_output: 'fine' })),
    concurrency: 1,
  })
  const arrival = provider.nextRequest()
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`))
  await arrival
  await expectData(service.put(`/models/${model.id}`, { model_id: 'after' }))
  release()
  assert.is((await waitForEnd(service, id, run_id)).summary.passed, 6)
  assert.equal(
    provider.received.map(({ body }) => body.model),
    Array.from({ length: 6 }, () => 'before'),
  )
})

test('a provider error fails its test case only', async () => {
  setStep((response, received, wire) =>
    (getInput(received) === 'break' ? respondWithError(400) : streamReply({ text: ['fine'] }))(response, received, wire),
  )
  const { id } = await resources.evaluation({
    target_id: (await createAgent()).id,
    test_cases: [
      { input: 'break', expected_output: 'fine' },
      { input: 'work', expected_output: 'fine' },
    ],
  })
  const { status, summary, results } = await runEvaluation(service, id)
  assert.equal([status, summary.passed, summary.failed, summary.errors], ['completed', 1, 0, 1])
  assert.equal([results[0].actual_output, /scripted error 400/.test(results[0].error)], [null, true])
})

test.run()
