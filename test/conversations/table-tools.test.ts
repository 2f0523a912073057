import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('tools for tables')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

async function createTool(documents: Record<string, string>): Promise<Json> {
  const source = await fixture.resources.source({ type: 'file' })
  for (const [name, content] of Object.entries(documents))
    await expectData(fixture.service.post(`/knowledge-sources/${source.id}/documents`, { name, content }), 201)
  const tool = await fixture.resources.retrievalTool({ knowledge_source_ids: [source.id] })
  await waitFor(async () => {
    const { status, progress } = await expectData(fixture.service.get(`/knowledge-sources/${source.id}`))
    return status === 'active' && progress === null ? true : undefined
  })
  return tool
}

async function ask(tool: Json, ...calls: { name: string; arguments: Record<string, unknown> }[]): Promise<Json> {
  const conversation = await fixture.startConversation(provider, { tools: [tool.id] })
  provider.script = [...calls.map((call, index) => streamReply({ calls: [{ id: `call_${index}`, ...call }] })), streamText('Two [1].')]
  return fixture.sendAndWait(conversation, 'How many orders were cancelled?')
}

test('a model that can call tools describes and queries the tables of a source', async () => {
  const tool = await createTool({ 'orders.csv': 'Id,Status,Amount\n1,cancelled,0.1\n2,shipped,5\n3,cancelled,0.2\n' })
  const { tool_calls, citations } = await ask(
    tool,
    { name: 'describe_tables', arguments: {} },
    { name: 'query_table', arguments: { sql: "select count(*) as n from orders where status = 'cancelled'" } },
    { name: 'query_table', arguments: { sql: "select readfile('/etc/hostname')" } },
  )
  const [described, queried, refused] = tool_calls
  assert.equal(
    described.result.tables.map(({ name, document, rows }: Json) => [name, document, rows]),
    [['orders', 'orders.csv', 3]],
  )
  assert.equal(queried.result, { columns: ['n'], rows: [[2]], truncated: false })
  assert.match(JSON.stringify(refused), /the function readfile, which is not allowed/)
  const [citation] = citations
  assert.equal([citation.source, citation.cited, citation.stale], ['orders.csv', true, undefined])
  assert.is(citation.content, "select count(*) as n from orders where status = 'cancelled'\n\nn\n2")
  assert.match(provider.received.at(-1)?.body.messages[0].content, /Compute counts, sums, averages/)
  const results = provider.received.at(-1)?.body.messages.filter(({ role }: Json) => role === 'tool')
  assert.match(results[1].content, /Cite this result as \[1\] for orders\.csv\./)
})

test('a source without tables offers no such tools', async () => {
  const { tool_calls } = await ask(await createTool({ 'leave.md': 'Twenty-five days.' }), {
    name: 'query_table',
    arguments: { sql: 'select 1' },
  })
  assert.match(JSON.stringify(tool_calls[0]), /no tool|unknown|not/i)
  assert.not.match(provider.received.at(-1)?.body.messages[0].content, /Compute counts/)
})

test.run()
