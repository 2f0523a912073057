import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('models')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const KEY = 'sk-test-0123456789abcdef'
const sealed = async (id: string) =>
  (await server.database.get<{ api_key: string | null }>('SELECT api_key FROM models WHERE id = ?', [id]))?.api_key

test('a model requires three fields; other fields get their defaults', async () => {
  const {
    id: _,
    created_at: __,
    updated_at: ___,
    ...model
  } = await expectData(server.post('/models', { name: 'GPT', provider: 'openai', model_id: 'gpt' }), 201)
  assert.equal(model, {
    name: 'GPT',
    provider: 'openai',
    model_id: 'gpt',
    endpoint: null,
    pricing: null,
    context_window: null,
    supports_tools: null,
    supports_images: null,
    recording: null,
    has_api_key: false,
  })
})

test('unknown providers are rejected', async () => {
  for (const provider of ['openai', 'anthropic', 'google', 'ollama']) await resources.model({ provider })
  await expectError(server.post('/models', { name: 'x', provider: 'openia', model_id: 'x' }), 'VALIDATION_ERROR', {
    field: 'provider',
    hint: /Did you mean "openai"/,
  })
  await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: ' ' }), 'VALIDATION_ERROR', {
    field: 'model_id',
    error: /blank/,
  })
  await expectError(server.post('/models', { name: 'x', provider: 'embedded', model_id: 'x' }), 'VALIDATION_ERROR', { field: 'provider' })
})

test('an openai-compatible model requires an endpoint', async () => {
  await expectError(server.post('/models', { name: 'x', provider: 'openai-compatible', model_id: 'x' }), 'VALIDATION_ERROR', {
    field: 'endpoint',
  })
  const model = await resources.model({ provider: 'openai-compatible', endpoint: 'http://127.0.0.1:11434/v1' })
  await expectError(server.put(`/models/${model.id}`, { endpoint: null }), 'VALIDATION_ERROR', { field: 'endpoint' })
  const openai = await resources.model()
  await expectError(server.put(`/models/${openai.id}`, { provider: 'openai-compatible' }), 'VALIDATION_ERROR', { field: 'endpoint' })
})

test('an endpoint must be an http or https URL without credentials', async () => {
  for (const endpoint of [
    'ftp://x.example/',
    'javascript:alert(1)',
    'x.example',
    'http://',
    'https://user:pass@x.example/',
    'https://user@x.example',
    'http://[::1',
    '',
  ])
    await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x', endpoint }), 'VALIDATION_ERROR', {
      field: 'endpoint',
    })
})

test('pricing is returned with the field names of the request', async () => {
  for (const pricing of [
    { input_per_million: 0.15, output_per_million: 0.6 },
    { input: 0.5, output: 1.5 },
    { input_per_1k: 0, output_per_1k: 0.002 },
    null,
  ])
    assert.equal((await resources.model({ pricing })).pricing, pricing)
  for (const [pricing, field] of [
    [{}, 'pricing.input_per_1k'],
    [{ input: 1 }, 'pricing.output'],
    [{ output_per_1k: 1 }, 'pricing.input_per_1k'],
    [{ input_per_million: 1 }, 'pricing.output_per_million'],
    [{ input_per_million: 1, output_per_million: 1e10 }, 'pricing.output_per_million'],
    [{ input: -1, output: 1 }, 'pricing.input'],
    [{ input_per_1k: 1, output_per_1k: 1e7 }, 'pricing.output_per_1k'],
    [{ input: 1, output_per_1k: 1 }, 'pricing.input_per_1k'],
    [{ input: '1', output: 1 }, 'pricing.input'],
    [{ input: 1, output: 1, extra: 1 }, 'pricing.extra'],
    [5, 'pricing'],
  ] as const)
    await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x', pricing }), 'VALIDATION_ERROR', { field })
})

test('an API key is never returned', async () => {
  const created = await server.post('/models', { name: 'keyed', provider: 'openai', model_id: 'x', api_key: KEY })
  const { id } = created.data
  const answers = [
    created,
    await server.get(`/models/${id}`),
    await server.get('/models?limit=100'),
    await server.put(`/models/${id}`, { name: 'still keyed' }),
    await server.get('/models?api_key=x'),
    await server.put(`/models/${id}`, { api_key: `${KEY} with space` }),
  ]
  for (const { text } of answers) assert.not.match(text, KEY)
  assert.is(created.data.has_api_key, true)
  assert.not.ok('api_key' in created.data)
  assert.match((await sealed(id)) ?? '', /^v1\./)
  assert.not.match((await sealed(id)) ?? '', KEY)
})

test('an update keeps the API key unless it contains another one or null', async () => {
  const { id } = await resources.model({ api_key: KEY })
  const before = await sealed(id)
  assert.is((await expectData(server.put(`/models/${id}`, { name: 'x', pricing: null }))).has_api_key, true)
  assert.is(await sealed(id), before)
  await expectData(server.patch(`/models/${id}`, { api_key: 'sk-another-key' }))
  assert.is.not(await sealed(id), before)
  assert.is((await expectData(server.patch(`/models/${id}`, { api_key: null }))).has_api_key, false)
  assert.is(await sealed(id), null)
})

test('a malformed API key is rejected', async () => {
  for (const api_key of ['', 'with space', 'line\nbreak', 'ümlaut', 'x'.repeat(10_001), 5])
    await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x', api_key }), 'VALIDATION_ERROR', {
      field: 'api_key',
    })
  await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x', has_api_key: true }), 'VALIDATION_ERROR', {
    field: 'has_api_key',
  })
})

test('only admins can change the API key, or the endpoint and provider of a model with a key', async () => {
  const { id } = await resources.model({ api_key: KEY, endpoint: 'https://api.example.com/' })
  const editor = { as: 'editor' }
  for (const change of [
    { api_key: 'sk-mine' },
    { api_key: null },
    { endpoint: 'https://evil.example/' },
    { endpoint: null },
    { provider: 'anthropic' },
  ])
    await expectError(server.put(`/models/${id}`, change, editor), 'FORBIDDEN', { error: /Only an admin/ })
  assert.is(
    (await expectData(server.put(`/models/${id}`, { name: 'renamed', endpoint: 'https://api.example.com/' }, editor))).name,
    'renamed',
  )
  await expectError(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x', api_key: 'k' }, editor), 'FORBIDDEN')
  for (const endpoint of [
    'http://127.0.0.1:9/v1',
    'http://localhost:9',
    'http://0x7f000001/',
    'http://[::ffff:10.0.0.1]/v1',
    'http://169.254.169.254/',
  ])
    await expectError(server.post('/models', { name: 'x', provider: 'openai-compatible', model_id: 'x', endpoint }, editor), 'FORBIDDEN', {
      error: /private network/,
    })
  const open = await expectData(server.post('/models', { name: 'x', provider: 'openai', model_id: 'x' }, editor), 201)
  assert.is(
    (await expectData(server.put(`/models/${open.id}`, { endpoint: 'https://other.example/' }, editor))).endpoint,
    'https://other.example/',
  )
})

test('the embedded model exists and cannot be changed or deleted', async () => {
  const model = await expectData(server.get(`/models/${EMBEDDED_MODEL_ID}`))
  assert.equal([model.provider, model.pricing, model.has_api_key], ['embedded', { input: 0, output: 0 }, false])
  await expectError(server.put(`/models/${EMBEDDED_MODEL_ID}`, { name: 'mine' }), 'CONFLICT', { hint: /another model/ })
  await resources.agent({ model_id: EMBEDDED_MODEL_ID })
  await expectError(server.delete(`/models/${EMBEDDED_MODEL_ID}`), 'CONFLICT', { hint: /another model/ })
  await expectError(server.delete(`/models/${EMBEDDED_MODEL_ID}?force=true`), 'CONFLICT')
  const other = await resources.model()
  await expectError(server.put(`/models/${other.id}`, { provider: 'embedded' }), 'VALIDATION_ERROR', { field: 'provider' })
})

test('the default model is the embedded model until the settings name another', async () => {
  assert.equal(await expectData(server.get('/settings', { as: 'viewer' })), {
    default_model_id: EMBEDDED_MODEL_ID,
    conversation_idle_minutes: 1440,
    daily_backups: 0,
    currency: 'USD',
  })
  const model = await resources.model({ model_id: 'only-one-of-this-name' })
  assert.is((await expectData(server.put('/settings', { default_model_id: 'only-one-of-this-name' }))).default_model_id, model.id)
  assert.is((await expectData(server.get('/settings'))).default_model_id, model.id)
  await expectError(server.put('/settings', { default_model_id: 'nothing' }), 'VALIDATION_ERROR', { field: 'default_model_id' })
  assert.is((await expectData(server.put('/settings', {}))).default_model_id, model.id)
  await expectError(server.put('/settings', { default_model: model.id }), 'VALIDATION_ERROR', { hint: /default_model_id/ })
  await expectError(server.put('/settings', { default_model_id: EMBEDDED_MODEL_ID }, { as: 'viewer' }), 'FORBIDDEN')
  assert.is((await expectData(server.put('/settings', { default_model_id: EMBEDDED_MODEL_ID }))).default_model_id, EMBEDDED_MODEL_ID)
  await expectData(server.delete(`/models/${model.id}`))
})

test("lists can be filtered by the id of a model, its name or the provider's name of it", async () => {
  const [one, two] = [await resources.model({ model_id: 'shared-name' }), await resources.model({ model_id: 'shared-name' })]
  for (const [path, create] of [
    ['/agents', resources.agent],
    ['/rag-tools', resources.ragTool],
  ] as const) {
    const [a, b] = [await create({ model_id: one.id }), await create({ model_id: two.id })]
    const find = async (model: string) =>
      (await server.get(`${path}?model_id=${encodeURIComponent(model)}`)).data.map(({ id }: Json) => id).sort()
    assert.equal(await find(one.id), [a.id])
    assert.equal(await find(one.name), [a.id])
    assert.equal(await find('shared-name'), [a.id, b.id].sort())
    assert.equal(await find('no-such-model'), [])
  }
})

test.run()
