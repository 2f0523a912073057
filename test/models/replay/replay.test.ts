import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildJudgePrompt } from '../../../daemon/evaluations/judge-answer.ts'
import { hashRequest } from '../../../daemon/models/replay/replay-chat-model.ts'
import { runEvaluation } from '../../evaluations/evaluation-fixture.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { copyHome, PausableDisk } from '../../harness/pausable-disk.ts'
import { Resources } from '../../harness/resources.ts'
import { respondWithError, ScriptedProvider, type Step, streamReply } from '../../harness/scripted-provider.ts'
import { type Json, TestServer } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'

const test = suite('record and replay')
const disk = new PausableDisk()
let service: TestServer
let resources: Resources
let provider: ScriptedProvider
let count = 0

test.before(
  reportFailure(async () => {
    service = await TestServer.start({ disk: disk.open })
    resources = new Resources(service)
    // Every reply is different, so that only a recording can repeat one.
    provider = await ScriptedProvider.start(
      'openai',
      streamReply(() => ({ text: ['answer ', String(++count)], usage: { input: 11, output: 7 } })),
    )
  }),
)
test.after.each(() => disk.release())
test.after(
  reportFailure(async () => {
    await service.close()
    await provider.close()
  }),
)

const source = () => resources.model({ ...provider.model, pricing: { input: 1, output: 2 } })
const replay = async (fields: Record<string, unknown> = {}) =>
  resources.model({ provider: 'replay', model_id: (await source()).id, ...fields })
const ask = async (model: Json, message: string) => {
  const { id } = await resources.conversation({ agent_id: (await resources.agent({ model_id: model.id, system_prompt: 'Be brief.' })).id })
  return service.post(`/conversations/${id}/messages`, { message })
}

test('the first reply is recorded and then replayed at no cost', async () => {
  const recorded = await source()
  const model = await resources.model({ provider: 'replay', model_id: recorded.id })
  const first = await expectData(ask(model, 'hello'))
  const asked = provider.received.length
  const again = await expectData(ask(model, 'hello'))
  assert.equal([again.content, provider.received.length], [first.content, asked])
  assert.equal([first.cost, again.cost, again.usage], [0, 0, { input_tokens: 11, output_tokens: 7, total_tokens: 18 }])
  assert.not.equal((await expectData(ask(model, 'other'))).content, first.content)
  const { total_tokens, total_cost } = await expectData(service.get(`/usage/stats?entity_type=model&entity_id=${recorded.id}`))
  assert.equal([total_tokens, total_cost], [36, (2 * (11 + 14)) / 1000], 'the recorded call is charged once')
})

test('an API key that the provider repeats is stored neither in the recording nor in the reply', async () => {
  const api_key = 'sk-canary-echoed-key'
  const echo = await ScriptedProvider.start(
    'openai',
    streamReply(({ headers }) => ({ text: ['You sent ', ...String(headers.authorization)] })),
  )
  const model = await replay({ model_id: (await resources.model({ ...echo.model, api_key })).id })
  for (const _ of [1, 2]) assert.is((await expectData(ask(model, 'Which key?'))).content, 'You sent Bearer [redacted]')
  const stored = [
    await service.get(`/models/${model.id}/recordings`),
    await service.database.all('SELECT * FROM messages'),
    await service.database.all('SELECT * FROM recordings'),
  ]
  assert.not.match(JSON.stringify(stored), 'canary')
  await echo.close()
})

test('concurrent identical requests share one recording, which is charged once', async () => {
  const model = await replay()
  const before = provider.received.length
  const answers = await Promise.all(Array.from({ length: 4 }, () => expectData(ask(model, 'hello'))))
  assert.equal([new Set(answers.map(({ content }) => content)).size, provider.received.length - before], [1, 1])
})

test('concurrent repeats of a test case are recorded once', async () => {
  const model = await replay()
  const before = provider.received.length
  const test_cases = [{ input: 'hello', expected_output: 'answer' }]
  const { id } = await resources.evaluation({ type: 'model', target_id: model.id, test_cases, repeats: 8, concurrency: 8 })
  const { results } = await runEvaluation(service, id)
  const answers = new Set(results.map(({ actual_output }: Json) => actual_output))
  assert.equal([results.length, answers.size, provider.received.length - before], [8, 1, 1])
})

test('if recording fails, a waiting request calls the model itself', async () => {
  const model = await replay()
  const usual = provider.script
  provider.script = [respondWithError(400), ...usual] as Step[]
  const statuses = (await Promise.all([ask(model, 'hello'), ask(model, 'hello')])).map(({ status }) => status)
  assert.equal(statuses.sort(), [200, 502])
  provider.script = usual
})

test('a recording and its usage are stored in one commit, so that a kill loses neither', async () => {
  const recorded = await source()
  const model = await resources.model({ provider: 'replay', model_id: recorded.id })
  disk.hold()
  const asked = expectData(ask(model, 'hello'))
  await disk.holdAt(asked, async () => (await service.database.all('SELECT 1 FROM recordings WHERE model_id = ?', [model.id])).length > 0)
  const after = await TestServer.start({ home: copyHome(service.paths.home) })
  disk.release()
  await asked
  assert.is((await expectData(after.get(`/usage/stats?entity_type=model&entity_id=${recorded.id}`))).total_tokens, 18)
  await after.close()
})

test('deleting a model while it records leaves no recording', async () => {
  const model = await replay()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const [usual] = provider.script as [Step]
  provider.script = [async (response, request, wire) => released.then(() => usual(response, request, wire)), usual]
  const before = provider.received.length
  const asked = ask(model, 'hello')
  await waitFor(async () => provider.received.length > before)
  await expectData(service.delete(`/models/${model.id}?force=true`))
  release()
  await asked
  assert.equal(await service.database.all('SELECT key FROM recordings WHERE model_id = ?', [model.id]), [])
})

test('with recording off, a request without a recording fails', async () => {
  const model = await replay()
  const first = await expectData(ask(model, 'hello'))
  await expectData(service.put(`/models/${model.id}`, { recording: false }))
  assert.is((await expectData(ask(model, 'hello'))).content, first.content)
  const { body } = await ask(model, 'never asked')
  assert.equal(
    [body.code, /no recording of this request/.test(body.error), /set recording to true/.test(body.hint)],
    ['PROVIDER_ERROR', true, true],
  )
})

test('requests of agents with tools and of judges have the keys of release 0.1.0, so that its recordings still replay', async () => {
  const model = await resources.model({
    provider: 'replay',
    model_id: (await resources.model({ ...provider.model, supports_tools: true })).id,
  })
  const tool = await resources.ragTool({ name: 'Handbook' })
  const agent = await resources.agent({ model_id: model.id, system_prompt: 'Be brief.', tools: [tool.id], topics: ['leave'] })
  const { id } = await resources.conversation({ agent_id: agent.id })
  await expectData(service.post(`/conversations/${id}/messages`, { message: 'hello' }))
  const [asked] = await expectData(service.get(`/models/${model.id}/recordings`))
  const judged = hashRequest({ messages: buildJudgePrompt({ input: 'a', expected: 'b', actual: 'c', instructions: 'Be strict.' }) } as Json)
  assert.equal(
    [asked.key, judged],
    [
      '4a2571c1775f1326a92aea091a508b08d07b8e046daf51984954b953a010d9cd',
      'adfaa47ffcbf9fb4e55dd38f457dca640a0ffaf9b6fcc567ac99b8be461f4097',
    ],
  )
})

test('exported recordings can be imported without the recorded model, unless they were changed', async () => {
  const model = await replay()
  const first = await expectData(ask(model, 'hello'))
  const recordings = (await expectData(service.get(`/models/${model.id}/recordings`))).map(({ created_at: _, ...rest }: Json) => rest)
  assert.is(recordings.length, 1)
  const elsewhere = await resources.model({ provider: 'replay', model_id: 'gone', recording: false })
  assert.equal(await expectData(service.post(`/models/${elsewhere.id}/recordings`, { recordings })), { added: 1 })
  assert.is((await expectData(ask(elsewhere, 'hello'))).content, first.content)
  await expectData(service.delete(`/models/${elsewhere.id}/recordings`))
  assert.is((await ask(elsewhere, 'hello')).status, 502)
  const changed = [{ ...recordings[0], request: { messages: [] } }]
  await expectError(service.post(`/models/${elsewhere.id}/recordings`, { recordings: changed }), 'VALIDATION_ERROR')
})

test('deleting the recorded model turns recording off and keeps the recordings', async () => {
  const recorded = await source()
  const model = await resources.model({ provider: 'replay', model_id: recorded.id })
  const first = await expectData(ask(model, 'hello'))
  await expectData(service.delete(`/models/${recorded.id}`))
  assert.is((await expectData(ask(model, 'hello'))).content, first.content)
  const { recording, model_id } = await expectData(service.get(`/models/${model.id}`))
  assert.equal([recording, model_id], [false, recorded.model_id])
  assert.match((await ask(model, 'never asked')).body.error, /recording is off/)
})

test('invalid replay models are rejected', async () => {
  const model = await replay()
  const make = (fields: object) => service.post('/models', { name: 'x', provider: 'replay', model_id: model.model_id, ...fields })
  await expectError(make({ model_id: 'nothing' }), 'VALIDATION_ERROR', { field: 'model_id' })
  await expectError(make({ model_id: model.id }), 'VALIDATION_ERROR', { field: 'model_id' })
  await expectError(make({ endpoint: 'https://example.com' }), 'VALIDATION_ERROR', { field: 'endpoint' })
  await expectError(service.post('/models', { name: 'x', provider: 'openai', model_id: 'y', recording: true }), 'VALIDATION_ERROR', {
    field: 'recording',
  })
  await expectError(service.delete(`/models/${model.model_id}/recordings`), 'CONFLICT')
  assert.equal(await expectData(service.get(`/models/${model.model_id}/recordings`)), [])
})

test('an evaluation with a replay model has the same outputs in every run', async () => {
  const agent = await resources.agent({ model_id: (await replay()).id })
  const { id } = await resources.evaluation({
    target_id: agent.id,
    test_cases: [
      { input: 'a', expected_output: 'answer' },
      { input: 'b', expected_output: 'answer' },
    ],
  })
  const outputs: string[][] = []
  for (let round = 0; round < 2; round++) {
    const { results } = await runEvaluation(service, id)
    outputs.push(results.map(({ actual_output }: Json) => actual_output))
  }
  assert.equal(outputs[0], outputs[1])
})

test.run()
