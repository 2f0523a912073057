import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { expectOpenaiError, OpenaiFixture } from './openai-fixture.ts'

const test = suite('openai replies')
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
  fixture.provider.script = [streamText('No.')]
  await chat({ model: agent.name, tools: [weather], tool_choice: 'none' })
  assert.equal([fixture.lastBody.tools.map((tool: Json) => tool.function.name), fixture.lastBody.tool_choice], [['search'], 'auto'])
  const taken = { type: 'function', function: { name: 'search' } }
  await expectOpenaiError(chat({ model: agent.name, tools: [taken] }), 400, 'invalid_request_error', null, 'tools')
})

test('calls of the client’s tools and their results are stored', async () => {
  fixture.provider.script = [streamReply({ calls: [{ id: 'call_1', name: 'get_weather', arguments: {} }] }), streamText('It is cold.')]
  const { body } = await chat({ tools: [weather], store: true })
  const headers = { 'cadre-conversation': body.conversation_id }
  const result = { role: 'tool', tool_call_id: 'call_1', content: '-5 °C' }
  await chat({ tools: [weather], messages: [user, body.choices[0].message, result] }, { headers })
  const [, call, reply, ...others] = await fixture.conversations.listMessages(body.conversation_id)
  assert.equal([call.finish_reason, call.tool_calls[0].result, reply.content, others], ['tool_calls', '-5 °C', 'It is cold.', []])
  const unknown = await chat({ messages: [user, { ...result, tool_call_id: 'x' }] })
  assert.equal([unknown.status, unknown.body.error.param], [400, 'messages'])
})

test('tool_choice is passed to the model', async () => {
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

test('images are rejected for models that cannot read them, and their number is limited', async () => {
  const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
  const ask = (model: string, count: number) => chat({ model, messages: [{ role: 'user', content: Array(count).fill(part) }] })
  assert.is((await ask('Helper', 50)).status, 200)
  await expectOpenaiError(ask('Helper', 51), 400, 'invalid_request_error', null, 'messages.0.content.50.image_url.url')
  await fixture.service.post('/models', { ...fixture.provider.model, name: 'Blind', supports_images: false })
  await expectOpenaiError(ask('Blind', 1), 400, 'invalid_request_error', null, 'messages')
})

test('an image URL is downloaded through the outbound guard', async () => {
  const send = (url: string) => chat({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] })
  await expectOpenaiError(send('http://127.0.0.1:9/x.png'), 400, 'invalid_request_error', 'address_blocked')
  await expectOpenaiError(send('file:///etc/passwd'), 400, 'invalid_request_error', null, 'messages.0.content.0.image_url.url')
})

test.run()
