import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../daemon/async/deferred.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('confirmations')
const DAY_MS = 24 * 3_600_000
let fixture: ConversationFixture
let provider: ScriptedProvider
let server: RecordingServer
let agent: Json

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
    server = await startRecordingServer()
    const parameters = { type: 'object', properties: { amount: { type: 'integer' } } }
    const order = { name: 'order', url: `${server.origin}/order`, method: 'POST', parameters, allow_private_network: true }
    const look = { name: 'look', url: `${server.origin}/look`, allow_private_network: true }
    const tools = await Promise.all([order, look].map((fields) => fixture.resources.apiTool(fields)))
    agent = await fixture.createAgent(provider, { tools: tools.map(({ id }) => id) })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close(), server.close()])))

const callOrder = (...ids: string[]) => streamReply({ calls: ids.map((id) => ({ id, name: 'order', arguments: {} })) })
const confirm = (id: string, message: string, call: string, allow: boolean, more: object = {}) =>
  fixture.service.post(`/conversations/${id}/messages/${message}/confirmations`, { tool_call_id: call, allow, ...more })
const countRequests = () => server.requests.length

test('a tool that requires confirmation runs only after it is allowed', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const before = countRequests()
  const stream = await fixture.stream(id, 'Order it')
  const { data } = await stream.readUntil('confirmation_required')
  const request = { tool_id: agent.tools[0], method: 'POST', url: `${server.origin}/order` }
  assert.equal(data, { id: 'call_1', name: 'order', arguments: {}, ...request })
  const [, pending] = await fixture.listMessages(id)
  assert.equal([pending?.finish_reason, pending?.tool_calls[0].confirmation, countRequests()], [undefined, 'pending', before])
  const allowed = await expectData(confirm(id, pending?.id, 'call_1', true))
  assert.equal([allowed.id, allowed.confirmation], ['call_1', 'allowed'])
  const result = await stream.readUntil('tool_result')
  assert.equal([result.data.confirmation, (result.data.result as Json).body, countRequests()], ['allowed', 'reached', before + 1])
  await stream.readUntil('message_end')
  assert.is((await fixture.listMessages(id))[1]?.tool_calls[0].confirmation, 'allowed')
})

test('a refused tool call does not run, and the model gets the error', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('then not')]
  const before = countRequests()
  const stream = await fixture.stream(id, 'Order it')
  await stream.readUntil('confirmation_required')
  const messageId = (await fixture.listMessages(id))[1]?.id
  await expectData(confirm(id, messageId, 'call_1', false))
  const { data } = await stream.readUntil('message_end')
  assert.equal([data.message.content, data.message.tool_calls?.[0]?.confirmation, countRequests()], ['then not', 'refused', before])
  assert.match(provider.received.at(-1)?.body.messages.at(-1).content, /did not allow/)
})

test('a request without a stream returns the pending calls at once, and retry waits for the rest', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1', 'call_2'), callOrder('call_3'), streamText('done')]
  const listConfirmations = ({ tool_calls }: Json) => tool_calls.map(({ confirmation }: Json) => confirmation)
  const pending = await fixture.sendAndWait(id, 'Order two')
  assert.equal([pending.finish_reason, listConfirmations(pending)], [undefined, ['pending', 'pending']])
  const again = await expectData(fixture.service.post(`/conversations/${id}/messages`, { retry: true }))
  assert.equal([again.id, listConfirmations(again)], [pending.id, ['pending', 'pending']], 'while it is pending')
  await expectError(fixture.send(id, 'Another'), 'CONFLICT')
  await expectData(confirm(id, pending.id, 'call_2', false))
  await expectData(confirm(id, pending.id, 'call_1', true))
  const next = await expectData(fixture.service.post(`/conversations/${id}/messages`, { retry: true }))
  assert.equal([next.id, listConfirmations(next)], [pending.id, ['allowed', 'refused', 'pending']], 'the next pending call')
  await expectData(confirm(id, pending.id, 'call_3', true))
  const reply = await expectData(fixture.service.post(`/conversations/${id}/messages`, { retry: true }))
  assert.equal([reply.id, reply.content, reply.finish_reason], [pending.id, 'done', 'stop'])
  assert.equal(listConfirmations(reply), ['allowed', 'refused', 'allowed'])
})

test('after a pending call is answered, the reply is completed although no client waits for it', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const pending = await fixture.sendAndWait(id, 'Order it')
  await expectData(confirm(id, pending.id, 'call_1', true))
  const reply = await waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })
  assert.equal([reply.content, reply.finish_reason], ['done', 'stop'])
})

test('a client that follows a pending reply and leaves aborts it', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const pending = await fixture.sendAndWait(id, 'Order it')
  const stream = await fixture.follow(id, pending.id)
  await stream.readUntil('confirmation_required')
  stream.disconnect()
  await waitFor(async () => (await fixture.listMessages(id)).at(-1)?.finish_reason === 'aborted')
})

test('other arguments without an answer show their request, and the call stays as it is', async () => {
  const url = `${server.origin}/items/{item}`
  const parameters = { type: 'object', properties: { item: { type: 'string' }, amount: { type: 'integer' } } }
  const drop = await fixture.resources.apiTool({ name: 'drop', url, method: 'DELETE', parameters, allow_private_network: true })
  const id = await fixture.createConversation(await fixture.createAgent(provider, { tools: [drop.id] }))
  provider.script = [streamReply({ calls: [{ id: 'call_1', name: 'drop', arguments: { item: 'a' } }] }), streamText('done')]
  const before = countRequests()
  const { id: message } = await fixture.sendAndWait(id, 'Drop it')
  const path = `/conversations/${id}/messages/${message}/confirmations`
  const preview = () => fixture.service.post(path, { tool_call_id: 'call_1', arguments: { item: 'b/c', amount: 2 } })
  const shown = await expectData(preview())
  assert.equal([shown.method, shown.url, shown.confirmation], ['DELETE', `${server.origin}/items/b%2Fc?amount=2`, 'pending'])
  assert.equal([(await fixture.listMessages(id))[1]?.tool_calls[0].arguments, countRequests()], [{ item: 'a' }, before])
  await expectError(fixture.service.post(path, { tool_call_id: 'call_1' }), 'VALIDATION_ERROR')
  await expectData(confirm(id, message, 'call_1', false))
  await expectError(preview(), 'CONFLICT')
  await waitFor(async () => (await fixture.listMessages(id))[1]?.finish_reason === 'stop')
})

test('a call can be allowed with other arguments, which are stored and told to the model', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const stream = await fixture.stream(id, 'Order it')
  await stream.readUntil('confirmation_required')
  const messageId = (await fixture.listMessages(id))[1]?.id
  await expectError(confirm(id, messageId, 'call_1', false, { arguments: { amount: 2 } }), 'VALIDATION_ERROR')
  await expectError(confirm(id, messageId, 'call_1', true, { arguments: [] }), 'VALIDATION_ERROR')
  // Others may answer before the call has ended.
  const { listener } = server
  const answers = createDeferred<void>()
  server.listener = (...call) => void answers.promise.then(() => listener(...call))
  await expectData(confirm(id, messageId, 'call_1', true, { arguments: { amount: 2 } }))
  await expectData(confirm(id, messageId, 'call_1', true))
  await expectError(confirm(id, messageId, 'call_1', true, { arguments: { amount: 3 } }), 'CONFLICT')
  server.listener = listener
  answers.resolve()
  const { data } = await stream.readUntil('tool_result')
  assert.equal([data.arguments, server.requests.at(-1)?.headers['content-length']], [{ amount: 2 }, String('{"amount":2}'.length)])
  const { data: end } = await stream.readUntil('message_end')
  assert.equal(end.message.tool_calls?.[0]?.arguments, { amount: 2 })
  assert.match(provider.received.at(-1)?.body.messages.at(-1).content, /changed the arguments of this call to \{"amount":2\}/)
})

test('the duration of a tool call does not include the time until it is confirmed', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const stream = await fixture.stream(id, 'Order it')
  await stream.readUntil('confirmation_required')
  const messageId = (await fixture.listMessages(id))[1]?.id
  const { now } = performance
  performance.now = () => now.call(performance) + DAY_MS // the user waits for a day
  try {
    await expectData(confirm(id, messageId, 'call_1', true))
    const { data } = await stream.readUntil('tool_result')
    assert.ok((data.latency_ms as number) < DAY_MS, `${data.latency_ms} ms`)
    await stream.readUntil('message_end')
  } finally {
    performance.now = now
  }
})

test('a confirmation can be repeated but not changed, and must be pending', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [
    streamReply({
      calls: [
        { id: 'a', name: 'order', arguments: {} },
        { id: 'b', name: 'order', arguments: {} },
        { id: 'c', name: 'look', arguments: {} },
      ],
    }),
    streamText('done'),
  ]
  const stream = await fixture.stream(id, 'Go')
  await stream.readUntil('confirmation_required')
  await stream.readUntil('confirmation_required')
  const messageId = (await fixture.listMessages(id))[1]?.id
  for (const _ of [1, 2]) assert.is((await expectData(confirm(id, messageId, 'a', true))).confirmation, 'allowed')
  await expectError(confirm(id, messageId, 'a', false), 'CONFLICT', { error: /already allowed/ })
  await expectError(confirm(id, messageId, 'c', true), 'CONFLICT', { error: /does not require confirmation/ })
  await expectError(confirm(id, messageId, 'd', true), 'NOT_FOUND')
  await expectError(confirm(id, 'msg_none', 'b', true), 'NOT_FOUND')
  await expectData(confirm(id, messageId, 'b', true))
  await stream.readUntil('message_end')
  await expectError(confirm(id, messageId, 'b', true), 'CONFLICT', { error: /has ended/ })
})

test('disconnecting during a confirmation aborts the reply, and the tool does not run', async () => {
  const id = await fixture.createConversation(agent)
  provider.script = [callOrder('call_1'), streamText('done')]
  const before = countRequests()
  const stream = await fixture.stream(id, 'Order it')
  await stream.readUntil('confirmation_required')
  stream.disconnect()
  const reply = await waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })
  assert.equal([reply.finish_reason, reply.tool_calls[0].confirmation, countRequests()], ['aborted', 'refused', before])
})

test.run()
