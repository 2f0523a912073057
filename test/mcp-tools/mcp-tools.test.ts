import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { McpToolsFixture } from './mcp-tools-fixture.ts'

const test = suite('MCP tools')
let conversations: ConversationFixture
let provider: ScriptedProvider
let fixture: McpToolsFixture
let server: Json
const tools: Record<string, string> = {}
const editor = { as: 'editor' }

test.before(
  reportFailure(async () => {
    ;[conversations, provider] = await ConversationFixture.openWithProvider()
    fixture = new McpToolsFixture(conversations.service)
    server = await fixture.addServer('good', { name: 'good', env: { CANARY: 'canary-secret-value' } })
    const names = ['echo', 'environment', 'secret', 'large', 'fail', 'crash', 'structured']
    for (const [index, id] of (await fixture.approve(server, ...names)).entries()) tools[names[index] as string] = id
  }),
)
test.after(reportFailure(() => Promise.all([conversations.close(), provider.close()])))

const callTool = (name: string, args: object = {}) => fixture.call(tools[name] as string, args)

test('an agent calls an approved tool after confirmation, under a name with the name of the server', async () => {
  const agent = await conversations.createAgent(provider, { tools: [tools.echo, tools.fail] })
  provider.script = [streamReply({ calls: [{ id: 'call_1', name: 'good__echo', arguments: { text: 'hello' } }] }), streamText('done')]
  const id = await conversations.createConversation(agent)
  const stream = await conversations.stream(id, 'Say hello')
  await stream.readUntil('confirmation_required')
  const [, pending] = await conversations.listMessages(id)
  await expectData(
    fixture.service.post(`/conversations/${id}/messages/${pending?.id}/confirmations`, { tool_call_id: 'call_1', allow: true }),
  )
  assert.is((await stream.readUntil('tool_result')).data.result, 'hello')
  const offered = provider.received.at(0)?.body.tools.map(({ function: { name, description } }: Json) => [name, description])
  assert.equal(offered, [
    ['good__echo', 'Returns its argument'],
    ['good__fail', 'Fails'],
  ])
  await stream.readUntil('message_end')
})

test('an allowed tool runs without confirmation', async () => {
  const agent = await conversations.createAgent(provider, { tools: [tools.echo], allowed_tools: [tools.echo] })
  provider.script = [streamReply({ calls: [{ id: 'call_1', name: 'good__echo', arguments: { text: 'hi' } }] }), streamText('done')]
  const { tool_calls } = await expectData(conversations.send(await conversations.createConversation(agent), 'Say hi'))
  assert.equal([tool_calls[0].result, tool_calls[0].confirmation], ['hi', undefined])
})

test('results are limited in size, errors of tools are reported, and arguments are validated', async () => {
  const large = (await expectData(callTool('large'))).result
  assert.match(large, /^x{20000}\n\[Cut after 20000 of 1000000 characters\.\]$/)
  await expectError(callTool('fail'), 'PROVIDER_ERROR', { error: /^the disk is full$/ })
  assert.equal((await expectData(callTool('structured'))).result, { degrees: 21 })
  await expectError(callTool('echo', { text: 1 }), 'VALIDATION_ERROR', { field: 'arguments.text' })
  await expectError(callTool('echo', { txt: 'x' }), 'VALIDATION_ERROR', { field: 'arguments.txt' })
})

test('the program gets a clean environment with the named variables, and its secrets are redacted', async () => {
  process.env.CADRE_TEST_CANARY = 'x'
  const names = (await expectData(callTool('environment'))).result.split(' ')
  delete process.env.CADRE_TEST_CANARY
  assert.ok(names.includes('CANARY') && names.includes('PATH'))
  assert.equal(
    names.filter((name: string) => /CADRE|TOKEN|KEY|NODE|npm/i.test(name)),
    ['CADRE_MCP_PROCESS'],
  )
  assert.is((await expectData(callTool('secret'))).result, 'it is [redacted]')
  assert.equal([server.env_names, server.env], [['CANARY'], undefined])
})

test('a crashed server reports why, and is started again after a delay', async () => {
  await expectError(callTool('crash'), 'UNAVAILABLE', { error: /The MCP server "good" exited with code 3: out of \[31mluck \[redacted\]/ })
  await expectError(callTool('echo', { text: 'a' }), 'UNAVAILABLE', { error: /exited with code 3.*It can be started again in 1 s\.$/ })
  const answer = await waitFor(async () => {
    const { status, data } = await callTool('echo', { text: 'back' })
    return status === 200 && data.result
  })
  assert.is(answer, 'back')
})

test('only admins run commands, reach the private network and turn confirmation off', async () => {
  const post = (path: string, body: object) => fixture.service.post(path, body, editor)
  await expectError(post('/mcp-servers', { name: 'x', command: 'sh' }), 'FORBIDDEN', { error: /run a command/ })
  const change = (fields: object) => fixture.service.put(`/mcp-servers/${server.id}`, fields, editor)
  await expectError(change({ args: ['-e', '1'], env: {} }), 'FORBIDDEN')
  await expectError(change({ env: { A: 'b' } }), 'FORBIDDEN')
  await expectError(change({ memory_mb: 65_536 }), 'FORBIDDEN')
  const address = { name: 'x', url: 'http://10.0.0.1/mcp' }
  await expectError(post('/mcp-servers', { ...address, allow_private_network: true }), 'FORBIDDEN')
  const { id } = await expectData(post('/mcp-servers', address), 201)
  await expectError(fixture.service.post(`/mcp-servers/${id}/discover`, undefined, editor), 'ADDRESS_BLOCKED')
  await expectError(fixture.service.put(`/mcp-servers/${id}`, { url: null, command: 'sh' }, editor), 'FORBIDDEN')
  const definition = { mcp_server_id: server.id, tool: 'echo' }
  await expectError(post('/mcp-tools', { ...definition, requires_confirmation: false }), 'FORBIDDEN')
  const created = await expectData(post('/mcp-tools', definition), 201)
  assert.equal([created.name, created.requires_confirmation], ['good__echo', true])
  await expectError(fixture.service.put(`/mcp-tools/${created.id}`, { requires_confirmation: false }, editor), 'FORBIDDEN')
})

test('a server is either a command or a URL, and its names are checked', async () => {
  const create = (fields: object) => fixture.service.post('/mcp-servers', { name: 'x', ...fields })
  await expectError(create({}), 'VALIDATION_ERROR', { field: 'command' })
  await expectError(create({ command: 'sh', url: 'https://mcp.example.com/' }), 'VALIDATION_ERROR', { field: 'url' })
  await expectError(create({ command: 'sh', auth: { type: 'bearer', token: 'x' } }), 'VALIDATION_ERROR', { field: 'auth' })
  await expectError(create({ url: 'https://mcp.example.com/', env: { A: 'b' } }), 'VALIDATION_ERROR', { field: 'env' })
  for (const name of ['a__b', '_a', 'a b', 'a\u001b'])
    await expectError(create({ name, command: 'sh' }), 'VALIDATION_ERROR', { field: 'name' })
  const tool = { mcp_server_id: server.id, tool: 'echo' }
  await expectError(fixture.service.post('/mcp-tools', { ...tool, name: 'other' }), 'VALIDATION_ERROR', { field: 'name' })
  await expectError(fixture.service.post('/mcp-tools', { ...tool, mcp_server_id: 'mcp_x' }), 'VALIDATION_ERROR', { field: 'mcp_server_id' })
})

test('another command or URL needs the secrets again, and all tools ask again', async () => {
  const other = await fixture.addServer('good', { env: { CANARY: 'canary-secret-value' } })
  const [echo] = await fixture.approve(other, 'echo')
  await expectData(fixture.service.put(`/mcp-tools/${echo}`, { requires_confirmation: false }))
  const agent = await conversations.resources.agent({ tools: [echo], allowed_tools: [echo] })
  const change = { args: [...other.args, 'more'] }
  await expectError(fixture.service.put(`/mcp-servers/${other.id}`, change), 'VALIDATION_ERROR', { field: 'env' })
  await expectData(fixture.service.put(`/mcp-servers/${other.id}`, { ...change, env: {} }))
  assert.is((await expectData(fixture.service.get(`/mcp-tools/${echo}`))).requires_confirmation, true)
  assert.equal((await expectData(fixture.service.get(`/agents/${agent.id}`))).allowed_tools, [])
})

test('tools are renamed and deleted with their server', async () => {
  const other = await fixture.addServer('good')
  const [echo] = await fixture.approve(other, 'echo')
  const agent = await conversations.resources.agent({ tools: [echo] })
  await expectData(fixture.service.put(`/mcp-servers/${other.id}`, { name: 'renamed' }))
  assert.is((await expectData(fixture.service.get(`/mcp-tools/${echo}`))).name, 'renamed__echo')
  await expectError(fixture.service.delete(`/mcp-servers/${other.id}`), 'CONFLICT', { error: /"renamed__echo" is used by agent/ })
  assert.is((await fixture.service.delete(`/mcp-servers/${other.id}?force=true`)).status, 200)
  await expectError(fixture.service.get(`/mcp-tools/${echo}`), 'NOT_FOUND')
  assert.equal((await expectData(fixture.service.get(`/agents/${agent.id}`))).tools, [])
})

test('files contain servers, approved tools and their secrets as variables', async () => {
  const { resources } = await expectData(fixture.service.get('/export'))
  const find = (family: string, name: string) => resources.find((found: Json) => found.family === family && found.name === name).fields
  assert.equal(find('mcp-servers', 'good'), {
    name: 'good',
    command: process.execPath,
    args: server.args,
    timeout_ms: 300_000,
    env: { CANARY: '${env:CADRE_MCP_SERVER_GOOD_ENV_CANARY}' },
  })
  const tool = find('mcp-tools', 'good__fail')
  assert.equal([tool.mcp_server_id, tool.tool, tool.description], ['good', 'fail', 'Fails'])
  const declared = [
    { family: 'mcp-servers', fields: { name: 'fresh', command: process.execPath, args: server.args } },
    { family: 'mcp-tools', fields: { ...tool, name: 'fresh__fail', mcp_server_id: 'fresh' } },
    { family: 'agents', fields: { name: 'Fresh', tools: ['mcp-tools/fresh__fail'] } },
  ]
  const apply = () => expectData(fixture.service.post('/apply', { resources: declared }))
  assert.equal(
    (await apply()).changes.map(({ action }: Json) => action),
    ['create', 'create', 'create'],
  )
  assert.equal(
    (await apply()).changes.map(({ action }: Json) => action),
    ['unchanged', 'unchanged', 'unchanged'],
  )
})

test.run()
