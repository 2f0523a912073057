import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('allowed tools')
let fixture: ConversationFixture
let provider: ScriptedProvider
let server: RecordingServer

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
    server = await startRecordingServer()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close(), server.close()])))

const createTool = (): Promise<Json> =>
  fixture.resources.apiTool({ name: 'order', url: `${server.origin}/order`, method: 'POST', allow_private_network: true })
const readAgent = (id: string) => expectData(fixture.service.get(`/agents/${id}`))

test('an allowed tool runs without confirmation for this agent, and asks for others', async () => {
  const { id: tool } = await createTool()
  const allowed = await fixture.createAgent(provider, { tools: [tool], allowed_tools: [tool] })
  const asking = await fixture.createAgent(provider, { tools: [tool] })
  const callTool = streamReply({ calls: [{ id: 'call_1', name: 'order', arguments: {} }] })
  provider.script = [callTool, streamText('done')]
  const { tool_calls } = await expectData(fixture.send(await fixture.createConversation(allowed), 'Order it'))
  assert.equal([tool_calls[0].confirmation, tool_calls[0].result.body], [undefined, 'reached'])
  provider.script = [callTool, streamText('done')]
  const stream = await fixture.stream(await fixture.createConversation(asking), 'Order it')
  await stream.readUntil('confirmation_required')
})

test('only an admin can allow a tool, and only one of the agent', async () => {
  const { id: tool } = await createTool()
  const { id } = await fixture.createAgent(provider, { tools: [tool] })
  const path = `/agents/${id}`
  const editor = { as: 'editor' }
  await expectError(fixture.service.put(path, { allowed_tools: [tool] }, editor), 'FORBIDDEN', {
    error: /^Only an admin may allow tool calls without confirmation\.$/,
  })
  const created = { name: 'x', tools: [tool], allowed_tools: [tool] }
  await expectError(fixture.service.post('/agents', created, editor), 'FORBIDDEN')
  const other = await fixture.resources.apiTool()
  await expectError(fixture.service.put(path, { allowed_tools: [other.id] }), 'VALIDATION_ERROR', { field: 'allowed_tools' })
  await expectData(fixture.service.put(path, { allowed_tools: [tool] }))
  // An editor can send the agent back as it was read, and revoke.
  const { allowed_tools, tools, name } = await readAgent(id)
  assert.equal((await expectData(fixture.service.put(path, { name, tools, allowed_tools }, editor))).allowed_tools, [tool])
  assert.equal((await expectData(fixture.service.put(path, { allowed_tools: [] }, editor))).allowed_tools, [])
})

test('a tool that is removed from the agent, deleted or changed is no longer allowed', async () => {
  const [first, second, third] = [await createTool(), await createTool(), await createTool()]
  const tools = [first.id, second.id, third.id]
  const { id } = await fixture.createAgent(provider, { tools, allowed_tools: tools })
  await expectData(fixture.service.put(`/agents/${id}`, { tools: tools.slice(1) }))
  assert.equal((await readAgent(id)).allowed_tools, tools.slice(1))
  await expectError(fixture.service.delete(`/api-tools/${second.id}`), 'CONFLICT', { error: new RegExp(`\\(${id}\\)\\.$`) })
  await fixture.service.delete(`/api-tools/${second.id}?force=true`)
  assert.equal([(await readAgent(id)).tools, (await readAgent(id)).allowed_tools], [[third.id], [third.id]])
  await expectData(fixture.service.put(`/api-tools/${third.id}`, { description: 'Places an order' }))
  assert.equal((await readAgent(id)).allowed_tools, [third.id])
  await expectData(fixture.service.put(`/api-tools/${third.id}`, { method: 'DELETE' }))
  assert.equal([(await readAgent(id)).tools, (await readAgent(id)).allowed_tools], [[third.id], []])
})

test('files contain allowed tools, and a change of the tool in the same apply keeps what the files allow', async () => {
  const tool = await fixture.resources.apiTool({ name: 'pay', url: 'https://pay.example.com/', method: 'POST' })
  const { id } = await fixture.resources.agent({ name: 'Cashier', tools: [tool.id], allowed_tools: [tool.id] })
  const exported = (await expectData(fixture.service.get('/export'))).resources as Json[]
  const wanted = ['pay', 'Cashier'].map((name) => exported.find((resource) => resource.name === name) as Json)
  assert.equal(wanted[1]?.fields.allowed_tools, ['api-tools/pay'])
  const resources = wanted.map(({ family, fields }) => ({ family, fields: 'url' in fields ? { ...fields, method: 'DELETE' } : fields }))
  await expectData(fixture.service.post('/apply', { resources }))
  assert.equal((await readAgent(id)).allowed_tools, [tool.id])
  assert.is((await expectData(fixture.service.get(`/api-tools/${tool.id}`))).method, 'DELETE')
})

test.run()
