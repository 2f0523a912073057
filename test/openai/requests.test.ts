import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { endEarlyAfter, respondWithError, stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'
import { type Json, MEMBER_USER } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { OpenaiFixture } from './openai-fixture.ts'

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
const weather = { type: 'function', function: { name: 'get_weather' } }

/** Asserts the status, type, code and param of an error. */
async function expectOpenaiError(response: Promise<Json>, status: number, type: string, code: string | null, param: string | null = null) {
  const { status: actual, body, text } = await response
  assert.equal([actual, body.error?.type, body.error?.code, body.error?.param], [status, type, code, param], text)
  return body.error.message as string
}

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

test('calls are not stored unless requested, and appended to the conversation of the header', async () => {
  const count = async () => (await fixture.service.get('/conversations')).body.pagination.total
  const before = await count()
  assert.is((await chat({})).body.conversation_id, undefined)
  assert.equal((await respond({})).body.store, false)
  assert.is(await count(), before)
  const { body } = await chat({ store: true })
  const headers = { 'cadre-conversation': body.conversation_id }
  const messages = [user, { role: 'assistant', content: 'Twenty-five days.' }, { role: 'user', content: 'Sure?' }]
  assert.is((await chat({ messages }, { headers })).body.conversation_id, body.conversation_id)
  assert.is((await respond({ input: 'Really?' }, { headers })).body.conversation.id, body.conversation_id)
  assert.is(await count(), before + 1)
  const stored = await fixture.conversations.listMessages(body.conversation_id)
  assert.equal(
    stored.map(({ content }) => content),
    ['How many days?', 'Twenty-five days.', 'Sure?', 'Twenty-five days.', 'Really?', 'Twenty-five days.'],
  )
  assert.is(fixture.lastBody.messages.length, 1 + stored.length - 1)
  await expectOpenaiError(chat({ model: 'Scripted', store: true }), 400, 'invalid_request_error', null, 'store')
})

test('an agent runs its own tools inside, and only calls of the client’s tools are returned', async () => {
  const { resources, service } = fixture.conversations
  const source = await resources.source()
  const search = await resources.retrievalTool({ name: 'search', knowledge_source_ids: [source.id], search_method: 'full_text' })
  const documents = `/knowledge-sources/${source.id}/documents`
  await service.post(documents, { name: 'leave.md', content: 'Every employee has 25 days.' })
  await waitFor(async () => (await service.get(documents)).data[0].status === 'indexed')
  const agent = await resources.agent({ model_id: fixture.model.id, tools: [search.id] })
  const searching = streamReply({ calls: [{ name: 'search', arguments: { query: 'employee days' } }] })
  fixture.provider.script = [searching, streamText('You have 25 days [1].')]
  const { body } = await chat({ model: agent.name, tools: [weather] })
  assert.is(body.choices[0].message.tool_calls, undefined)
  assert.is(body.choices[0].message.content, 'You have 25 days [1].\n\nSources:\n[1] leave.md')
  assert.equal([body.citations[0].source, body.citations[0].cited, body.usage.total_tokens], ['leave.md', true, 34])

  fixture.provider.script = [searching, streamText('You have 25 days [1].')]
  const response = (await respond({ model: agent.name })).body
  const [{ text, annotations }] = response.output[0].content
  assert.equal([text.slice(annotations[0].index, annotations[0].index + 3), annotations[0].filename], ['[1]', 'leave.md'])

  fixture.provider.script = [searching, streamText('{"days":25,"source":"[1]"}')]
  const json = await chat({ model: agent.name, response_format: { type: 'json_object' } })
  assert.is(json.body.choices[0].message.content, '{"days":25,"source":"[1]"}')

  const history = [user, { role: 'assistant', content: body.choices[0].message.content }, user]
  fixture.provider.script = [streamText('As I said.')]
  await chat({ model: agent.name, messages: history })
  assert.is(fixture.lastBody.messages[2].content, 'You have 25 days.')

  const both = [
    { id: 'a', name: 'search', arguments: { query: 'days' } },
    { id: 'b', name: 'get_weather', arguments: {} },
  ]
  fixture.provider.script = [streamReply({ calls: both })]
  const mixed = await chat({ model: agent.name, tools: [weather] })
  assert.equal(
    mixed.body.choices[0].message.tool_calls.map(({ id }: Json) => id),
    ['b'],
  )
  const taken = { type: 'function', function: { name: 'search' } }
  await expectOpenaiError(chat({ model: agent.name, tools: [taken] }), 400, 'invalid_request_error', null, 'tools')
})

test('tool_choice none offers no tools of the client to an agent with tools, and a named one forces it', async () => {
  await chat({ tools: [weather], tool_choice: 'none' })
  assert.equal([fixture.lastBody.tools.length, fixture.lastBody.tool_choice], [1, 'none'])
  await chat({ tools: [weather], tool_choice: { type: 'function', function: { name: 'get_weather' } } })
  assert.equal(fixture.lastBody.tool_choice, { type: 'function', function: { name: 'get_weather' } })
  for (const tool_choice of ['required', { type: 'function', function: { name: 'x' } }])
    await expectOpenaiError(chat({ tool_choice }), 400, 'invalid_request_error', null, 'tool_choice')
})

test('a call of the client’s tool with invalid arguments is returned to the model', async () => {
  fixture.provider.script = [streamReply({ calls: [{ name: 'get_weather', arguments: '{"city"' }] }), streamText('Never mind.')]
  const { body } = await chat({ tools: [weather], stream: false })
  assert.equal([body.choices[0].message.content, body.choices[0].finish_reason], ['Never mind.', 'stop'])
  assert.match(fixture.lastBody.messages.at(-1).content, 'The arguments could not be read')
})

test('a tool that requires confirmation is not run', async () => {
  const api = await fixture.conversations.resources.apiTool({ name: 'order', requires_confirmation: true })
  const agent = await fixture.conversations.resources.agent({ model_id: fixture.model.id, tools: [api.id] })
  fixture.provider.script = [streamReply({ calls: [{ name: 'order', arguments: {} }] }), streamText('I may not.')]
  assert.is((await chat({ model: agent.name })).body.choices[0].message.content, 'I may not.')
  assert.match(fixture.lastBody.messages.at(-1).content, 'no user is present')
})

test('the embedded model answers without tools, images and JSON', async () => {
  const model = 'model_00000000-0000-7000-8000-000000000001'
  assert.match((await chat({ model })).body.choices[0].message.content, 'embedded model')
  await expectOpenaiError(chat({ model, tools: [weather] }), 400, 'invalid_request_error', null, 'tools')
  await expectOpenaiError(chat({ model, response_format: { type: 'json_object' } }), 400, 'invalid_request_error', null, 'response_format')
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] }]
  await expectOpenaiError(chat({ model, messages: image }), 400, 'invalid_request_error', null, 'messages')
})

test('an image URL is downloaded through the outbound guard', async () => {
  const send = (url: string) => chat({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] })
  await expectOpenaiError(send('http://127.0.0.1:9/x.png'), 400, 'invalid_request_error', 'address_blocked')
  await expectOpenaiError(send('file:///etc/passwd'), 400, 'invalid_request_error', null, 'messages.0.content.0.image_url.url')
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
