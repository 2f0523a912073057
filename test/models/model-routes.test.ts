import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { respondWithError, ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('model routes')
const KEY = 'sk-test-0123456789abcdef'
let service: TestServer
let resources: Resources
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
    provider = await ScriptedProvider.start('openai', streamText('Hello.'))
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await provider.close()
  }),
)

const ledger = (id: string) =>
  service.database.all<{ status: string; input_tokens: number; output_tokens: number; cost: number | null }>(
    'SELECT status, input_tokens, output_tokens, cost FROM usage_calls WHERE model_id = ?',
    [id],
  )

test('testing a model returns its text and latency, and records usage once', async () => {
  provider.script = [streamReply({ text: ['Hello.'], usage: { input: 2_000, output: 1_000 } })]
  const { id } = await resources.model({ ...provider.model, pricing: { input_per_1k: 0.5, output_per_1k: 1.5 } })
  const { ok, text, latency_ms } = await expectData(service.post(`/models/${id}/test`))
  assert.is(ok, true)
  assert.is(text, 'Hello.')
  assert.ok(latency_ms > 0)
  assert.equal(await ledger(id), [{ status: 'done', input_tokens: 2_000, output_tokens: 1_000, cost: 2.5 }])
})

test("a failed test returns the provider's error without the key, and records usage once", async () => {
  provider.script = [respondWithError(401, { error: { message: `Incorrect API key provided: ${KEY}` } })]
  const { id } = await resources.model({ ...provider.model, api_key: KEY })
  const body = await expectError(service.post(`/models/${id}/test`), 'PROVIDER_ERROR', {
    error: /returned 401: Incorrect API key provided/,
    hint: /Check the API key/,
  })
  assert.match(body.hint, `cadre models update ${id} --api-key -`)
  assert.not.match(JSON.stringify(body), new RegExp(KEY))
  assert.not.match(service.log, new RegExp(KEY))
  assert.equal(await ledger(id), [{ status: 'failed', input_tokens: 0, output_tokens: 0, cost: null }])
})

test('testing a hosted model without a key fails with how to set one', async () => {
  const { id } = await resources.model({ provider: 'anthropic', model_id: 'claude' })
  await expectError(service.post(`/models/${id}/test`), 'PROVIDER_ERROR', { error: /has no API key/, hint: /api-key|discover/ })
})

test('testing the embedded model works without a provider; unknown models and viewers are rejected', async () => {
  const { text } = await expectData(service.post(`/models/${EMBEDDED_MODEL_ID}/test`))
  assert.match(text, /embedded model of Cadre/)
  await expectError(service.post('/models/model_x/test'), 'NOT_FOUND')
  await expectError(service.post(`/models/${EMBEDDED_MODEL_ID}/test`, undefined, { as: 'viewer' }), 'FORBIDDEN')
})

test('context_window and supports_tools are validated, stored and filterable', async () => {
  for (const field of ['context_window', 'supports_tools'])
    await expectError(service.post('/models', { name: 'x', provider: 'openai', model_id: 'x', [field]: 'much' }), 'VALIDATION_ERROR', {
      field,
    })
  const model = await resources.model({ context_window: 4_096, supports_tools: false })
  assert.equal([model.context_window, model.supports_tools], [4_096, false])
  assert.equal(
    await expectData(service.get('/models?supports_tools=false&context_window=4096')).then((found) =>
      found.map(({ id }: { id: string }) => id),
    ),
    [model.id],
  )
})

test('allow_private depends on who set the endpoint, not on other changes', async () => {
  const allowed = async (id: string) =>
    (await service.database.get<{ allow_private: number }>('SELECT allow_private FROM models WHERE id = ?', [id]))?.allow_private
  const ours = await resources.model({ ...provider.model })
  assert.is(await allowed(ours.id), 1)
  await expectData(service.put(`/models/${ours.id}`, { name: 'Renamed' }, { as: 'editor' }))
  assert.is(await allowed(ours.id), 1)
  await expectData(service.put(`/models/${ours.id}`, { endpoint: 'https://models.example.com/v1' }, { as: 'editor' }))
  assert.is(await allowed(ours.id), 0)
  await expectError(service.put(`/models/${ours.id}`, { endpoint: provider.model.endpoint }, { as: 'editor' }), 'FORBIDDEN')
  // An admin who sets the same endpoint again approves it.
  await expectData(service.put(`/models/${ours.id}`, { endpoint: 'https://models.example.com/v1' }))
  assert.is(await allowed(ours.id), 1)
  const theirs = await expectData(
    service.post(
      '/models',
      { name: 'theirs', provider: 'openai', model_id: 'x', endpoint: 'https://models.example.com' },
      { as: 'editor' },
    ),
    201,
  )
  assert.is(await allowed(theirs.id), 0)
})

test.run()
