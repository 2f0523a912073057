import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { respondWithError, type ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('citations')
let fixture: ConversationFixture
let provider: ScriptedProvider
let source: Json
let tools: Json[]

const LEAVE = '# Leave\n\nEvery employee gets twenty-five days of paid annual leave.\n\nUnused days expire in March.'
const TRAVEL = '# Travel\n\nTrains are booked by the front office, flights by nobody.'

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
    source = await fixture.resources.source()
    await add('leave.md', LEAVE)
    await add('travel.md', TRAVEL)
    await synced()
    tools = [
      await fixture.resources.ragTool({ name: 'handbook', knowledge_source_id: source.id }),
      await fixture.resources.retrievalTool({ name: 'finder', knowledge_source_ids: [source.id], search_method: 'full_text' }),
    ]
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const add = (name: string, content: string) =>
  expectData(fixture.service.post(`/knowledge-sources/${source.id}/documents`, { name, content }))
async function synced(): Promise<void> {
  await expectData(fixture.service.post(`/knowledge-sources/${source.id}/sync`))
  await waitFor(async () => {
    const { status, progress } = await expectData(fixture.service.get(`/knowledge-sources/${source.id}`))
    return status === 'active' && progress === null
  })
}
const ids = () => tools.map(({ id }) => id)
const query = (name: string, text: string, id = 'call_1') => ({ id, name, arguments: { query: text, top_k: 1 } })
const read = async (id: string) => (await fixture.listMessages(id)).at(-1) as Json

test('passages are numbered across a reply, and cited ones are marked', async () => {
  const id = await fixture.startConversation(provider, { tools: ids() })
  provider.script = [
    streamReply({ calls: [query('handbook', 'paid annual leave')] }),
    streamReply({ calls: [query('finder', 'trains booked', 'call_2'), query('handbook', 'days of annual leave', 'call_3')] }),
    streamText('Trains are booked for you', ' [2].'),
  ]
  const stream = await fixture.stream(id, 'Leave and travel?')
  await stream.readAll()
  const reply = await read(id)
  assert.equal(
    reply.citations.map(({ index, source: name, page, headings, cited }: Json) => [index, name, page, headings, cited]),
    [
      [1, 'leave.md', 1, 'Leave', false],
      [2, 'travel.md', 1, 'Travel', true],
    ],
  )
  for (const { content, start, end, source: name } of reply.citations)
    assert.is((name === 'leave.md' ? LEAVE : TRAVEL).slice(start, end), content)
  assert.ok(reply.citations.every(({ document_id, content_hash, score }: Json) => document_id && content_hash && score > 0))
  assert.equal(
    reply.tool_calls.map(({ result }: Json) => result),
    [{ citations: [1] }, { citations: [2] }, { citations: [1] }],
  )
  const told = provider.received.at(-1)?.body.messages.filter(({ role }: Json) => role === 'tool')
  assert.match(told[1].content, /^<tool_result>\n\[2\] travel\.md, page 1\n# Travel/)
  const results = stream.events.filter(({ event }) => event === 'tool_result') as Json[]
  assert.equal(
    results.map(({ data }) => data.citations.map(({ index }: Json) => index)),
    [[1], [2], [1]],
  )
  assert.match(provider.received.at(-1)?.body.messages[0].content, /in brackets, as \[1\]/)
})

test('a model without tool calling gets passages and cites them', async () => {
  const id = await fixture.createConversation(await fixture.resources.agent({ tools: ids() }))
  const stream = await fixture.stream(id, 'How many days of annual leave do I get?')
  await stream.readAll()
  assert.equal(stream.eventNames, ['message_start', 'retrieval', 'message_delta', 'message_end'])
  const reply = await read(id)
  assert.match(reply.content, /twenty-five days/)
  assert.ok(reply.citations.some(({ source: name, cited }: Json) => name === 'leave.md' && cited))
  const seen = new Set(reply.citations.map(({ content }: Json) => content))
  assert.is(seen.size, reply.citations.length, 'both tools found the same passages')
  const [, retrieval] = stream.events as Json[]
  assert.equal(
    retrieval.data.citations.map(({ index }: Json) => index),
    reply.citations.map(({ index }: Json) => index),
  )
})

test('a provider that rejects tools gets passages instead', async () => {
  const id = await fixture.startConversation(provider, { tools: ids() })
  provider.script = [respondWithError(400, { error: { message: 'scripted does not support tools' } }), streamText('Twenty-five [1].')]
  const reply = await fixture.sendAndWait(id, 'How many days of annual leave?')
  assert.is(reply.citations.find(({ index }: Json) => index === 1).cited, true)
  const { messages, tools: offered } = provider.received.at(-1)?.body ?? {}
  assert.is(offered, undefined)
  assert.match(messages[0].content, /twenty-five days of paid annual leave/)
})

test('invalid queries and deleted sources are reported to the model', async () => {
  const lost = await fixture.resources.source()
  const tool = await fixture.resources.ragTool({ name: 'lost', knowledge_source_id: lost.id })
  const id = await fixture.startConversation(provider, { tools: [tool.id, ...ids()] })
  await expectData(fixture.service.delete(`/knowledge-sources/${lost.id}?force=true`))
  const cases: [Json, RegExp][] = [
    [{ name: 'lost', arguments: { query: 'x' } }, /was deleted/],
    [{ name: 'handbook', arguments: {} }, /query.*required/],
    [{ name: 'handbook', arguments: { query: 'x', top_k: 1000 } }, /top_k/],
    [{ name: 'finder', arguments: { query: ' ' } }, /query/],
    [{ name: 'finder', arguments: { query: 'x', filters: {} } }, /filters.*not a known field/],
  ]
  for (const [call, why] of cases) {
    provider.script = [streamReply({ calls: [call] }), streamText('ok')]
    const reply = await fixture.sendAndWait(id, 'Go')
    assert.match(reply.tool_calls[0].error, why)
    assert.equal(reply.citations, [])
  }
})

test('a citation is stale only while its document does not contain the quote', async () => {
  const id = await fixture.startConversation(provider, { tools: ids() })
  provider.script = [streamReply({ calls: [query('handbook', 'days of paid annual leave')] }), streamText('Twenty-five [1].')]
  const fresh = (await fixture.sendAndWait(id, 'Leave?')).citations
  const stale = async () => (await read(id)).citations.map((citation: Json) => citation.stale)
  assert.equal((await read(id)).citations, fresh)
  await add('leave.md', `${LEAVE}\n\nAnd something else at the end.`)
  await synced()
  assert.equal(await stale(), [undefined])
  await add('leave.md', LEAVE.replace('twenty-five', 'thirty'))
  await synced()
  assert.equal(await stale(), [true])
  assert.is(
    (await expectData(fixture.service.get(`/conversations/${id}/messages`))).find(({ role }: Json) => role === 'assistant').citations[0]
      .stale,
    true,
  )
  const { headers } = await fixture.service.get(`/conversations/${id}`)
  await expectData(fixture.service.put(`/conversations/${id}`, { title: 'seen' }, { headers: { 'if-match': String(headers.etag) } }))
  await add('leave.md', LEAVE)
  await synced()
  assert.equal(await stale(), [undefined])
  await expectData(fixture.service.delete(`/knowledge-sources/${source.id}/documents/${fresh[0].document_id}`))
  assert.equal(await stale(), [true])
})

test.run()
