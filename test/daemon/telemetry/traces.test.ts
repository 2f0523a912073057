import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConversationFixture } from '../../conversations/conversation-fixture.ts'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { respondWithError, type ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { Collector } from './collector.ts'

const test = suite('traces')
let collector: Collector
let fixture: ConversationFixture
let provider: ScriptedProvider
let api: RecordingServer

test.before(
  reportFailure(async () => {
    collector = await Collector.start()
    api = await startRecordingServer()
    ;[fixture, provider] = await ConversationFixture.openWithProvider({ tracer: collector.createTracer() })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close(), api.close(), collector.close()])))
test.before.each(() => {
  collector.spans.length = 0
  collector.failure = undefined
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

test('a request continues the trace of its client, down to providers and tools', async () => {
  const tool = await fixture.resources.apiTool({
    name: 'order',
    url: `${api.origin}/order`,
    allow_private_network: true,
    requires_confirmation: false,
  })
  const search = await fixture.resources.retrievalTool({ name: 'handbook' })
  const id = await fixture.startConversation(provider, { tools: [tool.id, search.id] })
  const calls = [
    { id: 'call_1', name: 'order', arguments: {} },
    { id: 'call_2', name: 'handbook', arguments: { query: 'leave' } },
  ]
  provider.script = [streamReply({ calls }), streamReply({ text: ['Done'], usage: { input: 30, output: 4 } })]
  provider.received.length = 0
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' }
  const { data } = await fixture.service.post(`/conversations/${id}/messages`, { message: 'A secret question' }, { headers })
  assert.is(data.content, 'Done')

  const request = await collector.find('POST /api/conversations/{id}/messages')
  // The requests that created the tools have traces of their own.
  const listSpans = () => collector.spans.filter(({ traceId }) => traceId === TRACE)
  await waitFor(() => listSpans().length === 7)
  const find = (name: string) => listSpans().filter((span) => span.name === name)
  const [reply] = find('reply')
  const chats = find('chat scripted')
  const [order, handbook, found] = ['execute_tool order', 'execute_tool handbook', 'search'].map((name) => find(name)[0])
  assert.equal([request.parentSpanId, request.kind, request.attributes['http.response.status_code']], [PARENT, 2, 200])
  assert.equal([reply?.parentSpanId, reply?.attributes['cadre.outcome']], [request.spanId, 'stop'])
  assert.equal([reply?.attributes['gen_ai.conversation.id'], chats.length], [id, 2])
  for (const span of [...chats, order, handbook]) assert.is(span?.parentSpanId, reply?.spanId, span?.name)
  assert.is(found?.parentSpanId, handbook?.spanId)
  assert.is(chats[1]?.attributes['gen_ai.usage.input_tokens'], 30)
  for (const { startTimeUnixNano, endTimeUnixNano } of listSpans()) assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano))

  const chatHeaders = provider.received.map(({ headers }) => headers.traceparent)
  assert.equal(
    chatHeaders,
    chats.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
  )
  assert.is(provider.received[0]?.headers.tracestate, 'vendor=1')
  assert.is(api.requests.at(-1)?.headers.traceparent, `00-${TRACE}-${order?.spanId}-01`)
  assert.not.match(JSON.stringify(collector.spans), /secret question|Done|leave/)
})

test('failures are marked with the type of the error, without its message', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(400)]
  await fixture.send(id, 'Hello?')
  const chat = await collector.find('chat scripted')
  assert.equal([chat.status.code, chat.attributes['error.type']], [2, 'PROVIDER_ERROR'])
  assert.is((await collector.find('reply')).attributes['error.type'], 'PROVIDER_ERROR')
  assert.not.match(JSON.stringify(collector.spans), /scripted error/)
})

test('a sync has a trace of its own', async () => {
  const source = await fixture.resources.source()
  await expectData(fixture.service.post(`/knowledge-sources/${source.id}/sync`))
  const sync = await collector.find('sync')
  assert.equal([sync.parentSpanId, sync.attributes['cadre.source.id']], [undefined, source.id])
})

test('requests without a valid traceparent start a trace, and unsampled ones are passed on but not sent', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamText('x')]
  collector.spans.length = 0
  provider.received.length = 0
  const send = (traceparent: string) =>
    fixture.service.post(`/conversations/${id}/messages`, { message: 'Hello' }, { headers: { traceparent } })
  await send(`00-${TRACE}-${PARENT}-00`)
  assert.match(String(provider.received[0]?.headers.traceparent), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  const invalid = ['', 'x', `ff-${TRACE}-${PARENT}-01`, `00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01-x`]
  for (const header of invalid) await send(header)
  const listReplies = () => collector.spans.filter(({ name }) => name === 'reply')
  await waitFor(() => listReplies().length === invalid.length)
  const traces = new Set(listReplies().map(({ traceId }) => traceId))
  assert.is(traces.size, invalid.length)
  assert.not(traces.has(TRACE))
})

test('a collector that fails does not affect requests, and spans are sent again after it recovers', async () => {
  collector.failure = 400
  for (let count = 0; count < 5; count++) assert.is((await fixture.service.get('/agents')).status, 200)
  // They may be sent in several batches.
  const countDropped = async () => /^cadre_spans_total\{outcome="dropped"\} (\d+)/m.exec((await fixture.service.get('/metrics')).text)?.[1]
  await waitFor(async () => Number(await countDropped()) >= 5)
  collector.failure = undefined
  await fixture.service.get('/models')
  await collector.find('GET /api/models')
  await waitFor(() => collector.warnings.includes('traces are sent again'))
  assert.is(collector.warnings.filter((warning) => warning === 'traces could not be sent').length, 1)
})

test.run()
