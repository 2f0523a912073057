import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { takeProviderKeys } from '../../src/config.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { hang, respondWithError, ScriptedProvider, type Step, sendBody, streamText } from '../harness/scripted-provider.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('model discovery')
const OPENAI = 'sk-openai-0123456789abcdef'
const GEMINI = 'gm-0123456789abcdef'
let local: ScriptedProvider
let service: TestServer
const others: ScriptedProvider[] = []

/** Lists models on GET and replies on POST. */
const serveModels: Step = (response, received, wire) =>
  received.body === undefined
    ? sendBody(JSON.stringify({ object: 'list', data: [{ id: 'llama3.2' }, { id: 'qwen3:8b' }, { id: 7 }, null] }), 'application/json')(
        response,
        received,
        wire,
      )
    : streamText('Hello.')(response, received, wire)

test.before(
  reportFailure(async () => {
    local = await ScriptedProvider.start('openai', serveModels)
    // Each discovery would wait for it again.
    let hasHung = false
    const hangOnce: Step = (...exchange) => {
      const step = hasHung ? respondWithError(404) : hang
      hasHung = true
      return step(...exchange)
    }
    const otherServers = [
      hangOnce,
      respondWithError(404),
      sendBody('<html>my blog</html>'),
      sendBody('{"data": "no"}'),
      sendBody(`{"data": [${'"x",'.repeat(400_000)}1]}`),
    ]
    for (const step of otherServers) others.push(await ScriptedProvider.start('openai', step))
    const gone = await ScriptedProvider.start('openai', hang)
    await gone.close()
    const servers = [local, ...others, gone].map(({ url }) => url)
    service = await TestServer.start({
      surroundings: { keys: { OPENAI_API_KEY: OPENAI, GEMINI_API_KEY: GEMINI, GOOGLE_GENERATIVE_AI_API_KEY: GEMINI }, servers },
    })
  }),
)
test.after(
  reportFailure(async () => {
    await service.close()
    await Promise.all([local, ...others].map((provider) => provider.close()))
  }),
)

const origin = () => new URL(local.url).origin

test('models of local servers and of API keys are found; other servers are ignored', async () => {
  const found = await expectData(service.get('/models/discover', { as: 'viewer' }))
  assert.equal(
    found.map(({ model_id, provider, endpoint, origin: from, added }: Record<string, unknown>) => [
      model_id,
      provider,
      endpoint,
      from,
      added,
    ]),
    [
      ['llama3.2', 'openai-compatible', local.url, origin(), null],
      ['qwen3:8b', 'openai-compatible', local.url, origin(), null],
      ['gpt-5-mini', 'openai', null, 'OPENAI_API_KEY', null],
      ['gemini-2.5-flash', 'google', null, 'GEMINI_API_KEY', null],
    ],
  )
  assert.not.match(JSON.stringify(found), new RegExp(`${OPENAI}|${GEMINI}`))
})

test('a discovered model of a local server is added once and works', async () => {
  const model = await expectData(service.post('/models/discover', { origin: origin(), model_id: 'qwen3:8b' }), 201)
  assert.is(model.model_id, 'qwen3:8b')
  assert.is(model.endpoint, local.url)
  assert.is(model.has_api_key, false)
  const { ok, text } = await expectData(service.post(`/models/${model.id}/test`))
  assert.is(ok, true)
  assert.is(text, 'Hello.')
  await expectError(service.post('/models/discover', { origin: origin(), model_id: 'qwen3:8b' }), 'CONFLICT', {
    hint: new RegExp(model.id),
  })
  const found = await expectData(service.get('/models/discover'))
  assert.is(found[1].added, model.id)
  assert.is(found[0].added, null)
})

test('a model is added once: at the same time, at another spelling of its address, and with another provider', async () => {
  const body = { origin: origin(), model_id: 'llama3.2' }
  const statuses = (await Promise.all([1, 2, 3].map(() => service.post('/models/discover', body)))).map(({ status }) => status)
  assert.equal(statuses.sort(), [201, 409, 409])
  const { id } = (await expectData(service.get('/models?model_id=llama3.2')))[0]
  await expectData(service.delete(`/models/${id}`), 200)
  const manual = { name: 'x', provider: 'ollama', model_id: 'llama3.2:latest', endpoint: local.url.replace('127.0.0.1', 'localhost') }
  const { id: added } = await expectData(service.post('/models', manual), 201)
  assert.is((await expectData(service.get('/models/discover')))[0].added, added)
  await expectError(service.post('/models/discover', body), 'CONFLICT')
})

test('adding a model copies its API key to the vault, for any model of the provider, and never shows it', async () => {
  const model = await expectData(service.post('/models/discover', { origin: 'OPENAI_API_KEY', model_id: 'gpt-4o', name: 'My GPT' }), 201)
  assert.equal([model.name, model.provider, model.model_id, model.endpoint, model.has_api_key], ['My GPT', 'openai', 'gpt-4o', null, true])
  const first = await expectData(service.post('/models/discover', { origin: 'OPENAI_API_KEY' }), 201)
  assert.is(first.model_id, 'gpt-5-mini')
  const stored = await service.database.get<{ api_key: string }>('SELECT api_key FROM models WHERE id = ?', [model.id])
  assert.match(stored?.api_key ?? '', /^v1\./)
  assert.not.match(JSON.stringify([model, first, service.log]), new RegExp(OPENAI))
})

test('only admins add models, and only from discovered origins', async () => {
  await expectError(service.post('/models/discover', { origin: origin() }, { as: 'editor' }), 'FORBIDDEN')
  for (const body of [
    { origin: 'ANTHROPIC_API_KEY' },
    { origin: 'PATH' },
    { origin: 'toString' },
    { origin: 'http://127.0.0.1:1' },
    { origin: origin(), model_id: 'gpt' },
  ])
    await expectError(service.post('/models/discover', body), 'VALIDATION_ERROR', { field: 'origin', hint: /discover/ })
})

test('provider keys are removed from the environment, and invalid ones are ignored', () => {
  const environment = { OPENAI_API_KEY: ' sk-one\n', ANTHROPIC_API_KEY: '', GEMINI_API_KEY: 'your key here', HOME: '/home/ada' }
  assert.equal(takeProviderKeys(environment), { OPENAI_API_KEY: 'sk-one' })
  assert.equal(environment, { HOME: '/home/ada' } as never)
})

test.run()
