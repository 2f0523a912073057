import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MessageDraft } from '../../../daemon/conversations/reply/message-draft.ts'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { ScriptedToolCall } from '../../harness/provider-formats.ts'
import { type ReceivedRequest, respondWithError, ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('tools')
let fixture: ConversationFixture
let provider: ScriptedProvider
let server: RecordingServer
let weather: Json

const CITY = { type: 'object', properties: { city: { type: 'string', maxLength: 20 } }, required: ['city'], additionalProperties: false }

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
    server = await startRecordingServer((request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ path: request.url })),
    )
    weather = await apiTool('Weather in a city!')
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close(), server.close()])))

const apiTool = (name: string, more: object = {}) =>
  fixture.resources.apiTool({
    name,
    description: `About ${name}`,
    url: `${server.origin}/w/{city}`,
    parameters: CITY,
    allow_private_network: true,
    ...more,
  })

const calls = (...made: ScriptedToolCall[]) => streamReply({ calls: made })
const call = (name: string, args: ScriptedToolCall['arguments'], id = 'call_1'): ScriptedToolCall => ({ id, name, arguments: args })
/** The tool messages of the last request. */
const listToolMessages = ({ body } = provider.received.at(-1) as ReceivedRequest) =>
  body.messages.filter(({ role }: Json) => role === 'tool')

async function startConversationWith(tools: Json[], fields: object = {}): Promise<string> {
  return fixture.startConversation(provider, { tools: tools.map(({ id }) => id), ...fields })
}

test('tools are offered with valid names and their schemas', async () => {
  const names = ['handbook', 'Größe & Gewicht', 'größe  gewicht', '天気', 'x'.repeat(80), 'x'.repeat(70)]
  const id = await startConversationWith(await Promise.all(names.map((name) => apiTool(name))))
  provider.script = [streamText('fine')]
  await fixture.sendAndWait(id, 'Hi')
  const offered = provider.received
    .at(-1)
    ?.body.tools.map(({ function: { name, description, parameters } }: Json) => ({ name, description, parameters }))
  assert.equal(
    offered.map(({ name }: Json) => name),
    ['handbook', 'Große_Gewicht', 'große_gewicht', 'tool', 'x'.repeat(64), `${'x'.repeat(62)}_2`].map((name) => name.replaceAll('ß', '_')),
  )
  assert.equal(offered[0], { name: 'handbook', description: 'About handbook', parameters: CITY })
})

test('a tool call and its result are streamed, sent to the model and stored', async () => {
  const id = await startConversationWith([weather])
  provider.script = [
    streamReply({ text: ['Let me look.'], calls: [call('Weather_in_a_city', { city: 'São Paulo/..' })] }),
    streamText('It is', ' fine.'),
  ]
  const stream = await fixture.stream(id, 'Weather?')
  await stream.readAll()
  assert.equal(stream.eventNames, ['message_start', 'message_delta', 'tool_call', 'tool_result', 'message_delta', 'message_end'])
  const result = { status: 200, body: { path: '/w/S%C3%A3o%20Paulo%2F..' } }
  assert.equal(
    listToolMessages().map(({ tool_call_id, content }: Json) => [tool_call_id, JSON.parse(content.replaceAll(/<.*>/g, ''))]),
    [['call_1', result]],
  )
  const [, reply] = await fixture.listMessages(id)
  assert.is(reply?.content, 'Let me look.\n\nIt is fine.')
  assert.is(stream.replyText, reply?.content)
  const { latency_ms, ...stored } = reply?.tool_calls[0] ?? {}
  assert.equal(stored, { id: 'call_1', name: 'Weather_in_a_city', arguments: { city: 'São Paulo/..' }, result })
  assert.ok(latency_ms >= 0)
  assert.equal([reply?.usage.total_tokens, reply?.finish_reason], [2 * 17, 'stop'])
  assert.is(reply?.cost, (2 * (12 * 0.5 + 5 * 1.5)) / 1000)
})

test('tool results are part of later requests as long as the agent has the tool', async () => {
  const agent = await fixture.createAgent(provider, { tools: [weather.id] })
  const id = await fixture.createConversation(agent)
  provider.script = [calls(call('Weather_in_a_city', { city: 'Rome' })), streamText('Fine.')]
  await fixture.sendAndWait(id, 'Weather?')
  provider.script = [streamText('As I said.')]
  await fixture.sendAndWait(id, 'Sure?')
  assert.equal(
    provider.received.at(-1)?.body.messages.map(({ role }: Json) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
  )
  await expectData(fixture.service.put(`/agents/${agent.id}`, { tools: [] }))
  await fixture.sendAndWait(id, 'Sure?')
  assert.ok(listToolMessages().length === 0)
})

test('tool calls of one step run concurrently', async () => {
  let openCalls = 0
  let maxOpenCalls = 0
  server.listener = async (_, response) => {
    maxOpenCalls = Math.max(maxOpenCalls, ++openCalls)
    await waitFor(() => maxOpenCalls === 4, { intervalMs: 1, description: 'four open calls' })
    openCalls--
    response.end('ok')
  }
  const id = await startConversationWith([weather])
  const cities = ['a', 'b', 'c', 'd']
  provider.script = [calls(...cities.map((city, at) => call('Weather_in_a_city', { city }, `call_${at}`))), streamText('fine')]
  const reply = await fixture.sendAndWait(id, 'Weather?')
  assert.is(maxOpenCalls, 4)
  assert.equal(
    listToolMessages().map(({ tool_call_id }: Json) => tool_call_id),
    ['call_0', 'call_1', 'call_2', 'call_3'],
  )
  assert.equal(
    reply.tool_calls.map(({ arguments: { city } }: Json) => city),
    cities,
  )
  server.listener = (request, response) => void response.end(request.url)
})

test('failed, unknown and invalid tool calls are reported to the model', async () => {
  const other = await apiTool('secret tool')
  const broken = await apiTool('broken', { url: 'http://127.0.0.1:1/{city}' })
  const closed = await apiTool('closed', { allow_private_network: false })
  const id = await startConversationWith([weather, broken, closed])
  const cases: [ScriptedToolCall, RegExp][] = [
    [call('broken', { city: 'x' }), /./],
    [call('closed', { city: 'x' }), /private|not allowed|blocked|loopback/i],
    [call('secret_tool', { city: 'x' }), /There is no tool "secret_tool". The tools are: Weather_in_a_city, broken, closed\./],
    ...[other.id, '../Weather_in_a_city', 'Weather_in_a_city/../..', `${server.origin}/w/x`, 'constructor', '__proto__'].map(
      (name): [ScriptedToolCall, RegExp] => [call(name, { city: 'x' }), /There is no tool/],
    ),
    ...['..', '.', ''].map((city): [ScriptedToolCall, RegExp] => [call('Weather_in_a_city', { city }), /city/]),
    [call('Weather_in_a_city', {}), /city.*required/],
    [call('Weather_in_a_city', { city: 'x', path: '/etc' }), /path.*not a known field/],
    [call('Weather_in_a_city', '{"city": "x'), /not valid JSON/],
    [call('Weather_in_a_city', '["x"]'), /not a JSON object/],
  ]
  const before = server.requests.length
  for (const [made, why] of cases) {
    provider.script = [calls(made), streamText('so be it')]
    const reply = await fixture.sendAndWait(id, 'Do it')
    assert.equal([reply.content, reply.finish_reason], ['so be it', 'stop'])
    assert.match(reply.tool_calls[0].error, why)
    assert.match(listToolMessages().at(-1).content, why)
  }
  assert.is(server.requests.length, before)
})

test('a pattern with catastrophic backtracking does not block the daemon', async () => {
  const evil = await apiTool('evil', {
    url: `${server.origin}/e`,
    parameters: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } }, required: ['text'] },
  })
  const id = await startConversationWith([evil])
  provider.script = [calls(call('evil', { text: `${'a'.repeat(50)}!` })), streamText('well')]
  const reply = await fixture.sendAndWait(id, 'Do it')
  assert.match(reply.tool_calls[0].error, /reasonable time/)
})

test('tool calls get unique ids within a reply', async () => {
  const id = await startConversationWith([weather])
  const again = calls(call('Weather_in_a_city', { city: 'x' }))
  provider.script = [again, again, again, streamText('done')]
  const reply = await fixture.sendAndWait(id, 'Go')
  assert.equal(
    reply.tool_calls.map((made: Json) => made.id),
    ['call_1', 'call_1-2', 'call_1-3'],
  )
  const { messages } = provider.received.at(-1)?.body ?? {}
  assert.equal(
    messages.flatMap(({ tool_calls = [] }: Json) => tool_calls.map((made: Json) => made.id)),
    listToolMessages().map(({ tool_call_id }: Json) => tool_call_id),
  )
})

test('the last of ten steps forbids tools, and a model that still calls one is stopped', async () => {
  const id = await startConversationWith([weather])
  const again = calls(call('Weather_in_a_city', { city: 'x' }))
  const before = provider.received.length
  provider.script = [...Array.from({ length: 9 }, () => again), streamText('enough')]
  const reply = await fixture.sendAndWait(id, 'Go')
  assert.equal([reply.content, reply.finish_reason, reply.tool_calls.length], ['enough', 'stop', 9])
  assert.is(provider.received.length - before, 10)
  assert.equal(
    provider.received.slice(before).map(({ body }) => body.tool_choice),
    [...Array.from({ length: 9 }, () => 'auto'), 'none'],
  )
  const requests = server.requests.length
  provider.script = [again]
  const endless = await fixture.sendAndWait(id, 'Go')
  assert.equal([endless.finish_reason, endless.tool_calls.length, endless.usage.total_tokens], ['steps', 10, 10 * 17])
  assert.match(endless.tool_calls[9].error, /Not run/)
  assert.is(server.requests.length - requests, 9)
})

test('a long tool result is truncated when stored', async () => {
  server.listener = (_, response) => {
    server.listener = (request, reply) => void reply.end(request.url)
    response.end('y'.repeat(60_000))
  }
  const id = await startConversationWith([weather])
  provider.script = [calls(call('Weather_in_a_city', { city: 'x' })), streamText('long')]
  const reply = await fixture.sendAndWait(id, 'Go')
  assert.match(reply.tool_calls[0].result, /^\{"status":200,"body":"y{9900,}\n… \(\d+ more characters are left out\)$/)
  assert.ok(listToolMessages().at(-1).content.length > 20_000)
})

test('a model that rejects tools is called again without them', async () => {
  const id = await startConversationWith([weather])
  provider.script = [respondWithError(400, { error: { message: 'scripted does not support tools' } }), streamText('plain')]
  const reply = await fixture.sendAndWait(id, 'Hi')
  assert.equal([reply.content, reply.finish_reason, reply.usage.total_tokens], ['plain', 'stop', 17])
  assert.is(provider.received.at(-1)?.body.tools, undefined)
})

test('tool calls work with the protocols of Anthropic and Google', async () => {
  for (const wire of ['anthropic', 'google'] as const) {
    const other = await ScriptedProvider.start(
      wire,
      calls(call('Weather_in_a_city', { city: 'a' }), call('Weather_in_a_city', { city: 'b' }, 'call_2')),
      streamText('Fine.'),
    )
    const id = await fixture.startConversation(other, { tools: [weather.id] }, { api_key: 'sk-test' })
    const reply = await fixture.sendAndWait(id, 'Weather?').finally(() => other.close())
    assert.equal([reply.content, reply.tool_calls.map(({ result }: Json) => result.status)], ['Fine.', [200, 200]], wire)
    assert.is(reply.usage.total_tokens, 2 * 17, wire)
  }
})

test('the cost of several steps has no floating-point error', () => {
  const draft = new MessageDraft({ id: 'msg_1', timestamp: '2026-01-01T00:00:00Z', model_id: 'model_1' })
  for (const cost of [0.1, 0.1, 0.1]) draft.addUsage({ input_tokens: 1, output_tokens: 1, status: 'done', estimated: false }, cost)
  assert.is(draft.toMessage('stop').cost, 0.3)
})

test.run()
