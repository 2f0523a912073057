import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import {
  endEarlyAfter,
  respondWithError,
  ScriptedProvider,
  sendBody,
  stallAfter,
  streamReply,
  streamText,
} from '../harness/scripted-provider.ts'
import { type Json, MEMBER_USER } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { expectOpenaiError, OpenaiFixture } from './openai-fixture.ts'

const test = suite('openai requests')
let fixture: OpenaiFixture

test.before(
  reportFailure(async () => {
    fixture = await OpenaiFixture.open({ providerTimes: { retryDelayMs: 1 } })
  }),
)
test.before.each(() => {
  fixture.provider.script = [streamText('Twenty-five days.')]
})
test.after(reportFailure(() => fixture.close()))

const user = { role: 'user', content: 'How many days?' }
const chat = (fields: Json, options: Json = {}) =>
  fixture.service.post('/v1/chat/completions', { model: 'Helper', messages: [user], ...fields }, options)
const respond = (fields: Json, options: Json = {}) =>
  fixture.service.post('/v1/responses', { model: 'Helper', input: 'How many days?', ...fields }, options)

test('errors have the types and codes of OpenAI', async () => {
  const invalid = 'invalid_request_error'
  await expectOpenaiError(chat({}, { as: null }), 401, invalid, 'invalid_api_key')
  await expectOpenaiError(chat({}, { as: 'wrong' }), 401, invalid, 'invalid_api_key')
  await expectOpenaiError(chat({}, { as: 'viewer' }), 403, invalid, 'insufficient_permissions')
  await expectOpenaiError(chat({ model: 'Nobody' }), 404, invalid, 'model_not_found', 'model')
  await expectOpenaiError(fixture.service.get('/v1/models/Nobody'), 404, invalid, 'model_not_found', 'model')
  await expectOpenaiError(chat({ temperature: 3 }), 400, invalid, null, 'temperature')
  await expectOpenaiError(chat({ n: 2 }), 400, invalid, null, 'n')
  await expectOpenaiError(chat({ functions: [] }), 400, invalid, 'unknown_parameter', 'functions')
  await expectOpenaiError(chat({ messages: [{ role: 'robot' }] }), 400, invalid, null, 'messages.0.role')
  await expectOpenaiError(chat({ messages: [{ role: 'system', content: 'x' }] }), 400, invalid, null, 'messages')
  await expectOpenaiError(fixture.service.post('/v1/nothing', {}), 404, invalid, 'not_found')
  await expectOpenaiError(fixture.service.get('/v1/embeddings'), 405, invalid, 'method_not_allowed')
  await expectOpenaiError(fixture.service.post('/v1/chat/completions', undefined, { raw: '{' }), 400, invalid, null)
})

test('errors of providers are reported before the first text as a status, after it in the stream', async () => {
  fixture.provider.script = [respondWithError(400)]
  await expectOpenaiError(chat({}), 502, 'server_error', 'provider_error')
  const { headers } = await chat({ stream: true })
  assert.is(headers['x-should-retry'], 'false')
  fixture.provider.script = [endEarlyAfter('Twenty')]
  const { status, text } = await chat({ stream: true })
  assert.is(status, 200)
  assert.match(text, /event: error\ndata: {"error":{"message":.*"type":"server_error"/)
  assert.not.match(text, '[DONE]')
  const response = await respond({ stream: true })
  assert.match(response.text, /event: response.failed\ndata: .*"code":"provider_error".*"status":"failed"/)
})

test('a token in the URL is not accepted', async () => {
  const token = await fixture.service.token('admin')
  for (const query of [`api_key=${token}`, `access_token=${token}`, `key=${token}`])
    await expectOpenaiError(fixture.service.get(`/v1/models?${query}`, { as: null }), 401, 'invalid_request_error', 'invalid_api_key')
})

test('foreign hosts and origins are rejected', async () => {
  for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }])
    await expectOpenaiError(chat({}, { headers }), 403, 'invalid_request_error', 'insufficient_permissions')
})

test('an exhausted budget is reported as insufficient quota, and no model is called', async () => {
  const limit = { metric: 'tokens', limit: 1, period: 'day', action: 'block', entity_type: 'model', entity_id: fixture.model.id }
  const { data } = await fixture.service.post('/usage/thresholds', limit)
  await chat({})
  const before = fixture.provider.received.length
  for (const call of [chat({}), chat({ stream: true }), respond({}), chat({ store: true })])
    await expectOpenaiError(call, 429, 'insufficient_quota', 'insufficient_quota')
  assert.is(fixture.provider.received.length, before)
  await fixture.service.delete(`/usage/thresholds/${data.id}`)
})

test('calls are billed to the agent, the model and the user', async () => {
  const getCost = async (type: string, id: string) =>
    (await fixture.service.get(`/usage/stats?entity_type=${type}&entity_id=${id}`)).data.total_cost
  const before = await Promise.all([getCost('agent', fixture.agent.id), getCost('model', fixture.model.id)])
  await chat({}, { as: 'member' })
  await chat({ stream: true })
  await chat({ model: 'Scripted' })
  const after = await Promise.all([getCost('agent', fixture.agent.id), getCost('model', fixture.model.id)])
  const price = (12 * 0.5 + 5 * 1.5) / 1000
  assert.ok(Math.abs(after[0] - before[0] - 2 * price) < 1e-9 && Math.abs(after[1] - before[1] - 3 * price) < 1e-9)
  const row = await fixture.service.database.get<Json>('SELECT count(*) AS calls FROM usage_calls WHERE user_id = ?', [MEMBER_USER])
  assert.ok(row.calls >= 1)
})

test('members use agents only, and nobody else’s conversations', async () => {
  const names = (await fixture.service.get('/v1/models', { as: 'member' })).body.data.map(({ id }: Json) => id)
  assert.equal(names, ['Helper'])
  for (const model of ['Scripted', fixture.model.id, 'scripted', 'minilm'])
    await expectOpenaiError(chat({ model }, { as: 'member' }), 404, 'invalid_request_error', 'model_not_found', 'model')
  const own = await chat({ store: true }, { as: 'member' })
  const other = await respond({ store: true })
  const headers = { 'cadre-conversation': other.body.conversation.id }
  assert.is((await chat({}, { as: 'member', headers })).status, 404)
  const denied = await respond({ previous_response_id: other.body.id }, { as: 'member' })
  assert.equal([denied.status, denied.body.error.code], [404, 'previous_response_not_found'])
  assert.not.match(denied.text, other.body.conversation.id)
  const { data } = await fixture.service.get(`/conversations/${own.body.conversation_id}`, { as: 'member' })
  assert.equal([data.user_id, data.messages.length, data.title], [MEMBER_USER, 2, 'How many days?'])
})

test('a name that is not unique is ambiguous, and its identifiers are listed', async () => {
  const [one, other] = [
    await fixture.conversations.resources.agent({ name: 'Twin' }),
    await fixture.conversations.resources.agent({ name: 'Twin' }),
  ]
  const message = await expectOpenaiError(chat({ model: 'Twin' }), 400, 'invalid_request_error', null, 'model')
  assert.match(message, one.id)
  const ids = (await fixture.service.get('/v1/models')).body.data.map(({ id }: Json) => id)
  assert.ok(ids.includes(one.id) && ids.includes(other.id) && !ids.includes('Twin'))
  assert.is((await fixture.service.get('/v1/models/scripted')).body.cadre.id, fixture.model.id)
})

test('embeddings refuse tokens, other dimensions and models that do not embed', async () => {
  const embed = (fields: Json, as = 'admin') => fixture.service.post('/v1/embeddings', { model: 'minilm', input: 'x', ...fields }, { as })
  for (const input of [[1, 2], [[1, 2]]]) await expectOpenaiError(embed({ input }), 400, 'invalid_request_error', null, 'input')
  await expectOpenaiError(embed({ dimensions: 10 }), 400, 'invalid_request_error', null, 'dimensions')
  assert.is((await embed({ dimensions: 384 })).status, 200)
  await expectOpenaiError(embed({ model: 'Helper' }), 400, 'invalid_request_error', null, 'model')
  const claude = await fixture.conversations.resources.model({ provider: 'anthropic', model_id: 'claude' })
  await expectOpenaiError(embed({ model: claude.name }), 400, 'invalid_request_error', null, 'model')
  assert.is((await embed({}, 'viewer')).status, 200)
  await expectOpenaiError(embed({}, 'member'), 403, 'invalid_request_error', 'insufficient_permissions')
})

test('refused dimensions are not charged', async () => {
  const vector = sendBody('{"data":[{"index":0,"embedding":[1,0]}],"usage":{"prompt_tokens":3,"total_tokens":3}}', 'application/json')
  const provider = await ScriptedProvider.start('openai', vector)
  const { id, name } = await fixture.conversations.resources.model({ ...provider.model, pricing: { input: 1, output: 1 } })
  const embed = (dimensions: number) => fixture.service.post('/v1/embeddings', { model: name, input: 'x', dimensions })
  const countCalls = async () =>
    (await fixture.service.database.get<Json>('SELECT count(*) AS calls FROM usage_calls WHERE model_id = ?', [id])).calls
  await expectOpenaiError(embed(10), 400, 'invalid_request_error', null, 'dimensions')
  assert.is(await countCalls(), 0)
  assert.is((await embed(2)).status, 200)
  assert.is(await countCalls(), 1)
  await provider.close()
})

test('stored responses belong to their user, and busy conversations are not changed', async () => {
  const send = (method: string, id: string, as: string) => fixture.service.call(method, `/v1/responses/${id}`, undefined, { as })
  const { body: other } = await respond({ store: true })
  const { body: own } = await respond({ store: true }, { as: 'member' })
  for (const method of ['GET', 'DELETE']) assert.is((await send(method, other.id, 'member')).status, 404)
  assert.is((await send('GET', own.id, 'member')).status, 200)
  assert.is((await send('GET', own.id, 'viewer')).status, 200)
  assert.is((await send('DELETE', own.id, 'viewer')).status, 403)
  for (const id of ['resp_x', other.id.replace('resp_', 'msg_'), other.conversation.id])
    assert.is((await send('GET', id, 'admin')).status, 404)

  fixture.provider.script = [stallAfter('Twenty')]
  const stream = await fixture.conversations.open('/v1/responses', { model: 'Helper', input: 'Hello', stream: true, store: true })
  const { response } = ((await stream.next()) as { data: Json }).data
  assert.is((await send('GET', response.id, 'admin')).body.status, 'in_progress')
  await expectOpenaiError(send('DELETE', response.id, 'admin'), 409, 'invalid_request_error', 'conflict')
  stream.disconnect()
  const ended = await waitFor(async () => {
    const { body } = await send('GET', response.id, 'admin')
    return body.status === 'in_progress' ? undefined : body
  })
  assert.equal([ended.status, ended.output[0].content[0].text], ['cancelled', 'Twenty'])
})

test('a reply is aborted when the client disconnects, and the call is settled', async () => {
  fixture.provider.script = [stallAfter('Twenty')]
  const stream = await fixture.conversations.open('/v1/chat/completions', { model: 'Helper', messages: [user], stream: true })
  await stream.next()
  stream.disconnect()
  const received = fixture.provider.received.at(-1)
  await received?.closed
  await waitFor(async () => {
    const row = await fixture.service.database.get<Json>("SELECT count(*) AS open FROM usage_calls WHERE status = 'open'")
    return row.open === 0
  })
})

test('a message that exceeds the context window has the code of OpenAI', async () => {
  const { name } = await fixture.conversations.resources.model({ ...fixture.provider.model, name: 'Small', context_window: 256 })
  const messages = [{ role: 'user', content: 'word '.repeat(2_000) }]
  await expectOpenaiError(chat({ model: name, messages }), 400, 'invalid_request_error', 'context_length_exceeded', 'messages')
})

test('the rate limit applies, and clients are told when to retry', async () => {
  const limited = await OpenaiFixture.open({ rateLimit: 5 })
  try {
    const list = () => limited.service.get('/v1/models')
    for (let left = 5; left > 0; left--) if ((await list()).status === 429) break
    await expectOpenaiError(list(), 429, 'requests', 'rate_limit_exceeded')
    assert.ok(Number((await list()).headers['retry-after']) > 0)
  } finally {
    await limited.close()
  }
})

test('200 concurrent streams are not mixed up', async () => {
  fixture.provider.script = [streamReply(({ body }) => ({ text: ['You said ', body.messages.at(-1).content] }))]
  const streamed = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const messages = [{ role: 'user' as const, content: `question ${index}` }]
      let text = ''
      for await (const { choices } of await fixture.client.chat.completions.create({ model: 'Helper', messages, stream: true }))
        text += choices[0]?.delta.content ?? ''
      return text
    }),
  )
  assert.equal(
    streamed,
    streamed.map((_, index) => `You said question ${index}`),
  )
})

test.run()
