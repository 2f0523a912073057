import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MCP_TOOLS } from '../../src/contract/mcp.ts'
import { hasAccess, ROLES, type Role } from '../../src/contract/route.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { type Json, MEMBER_USER } from '../harness/test-server.ts'
import { startRecordingServer } from '../outbound/recording-server.ts'
import { McpFixture } from './mcp-fixture.ts'
import { ACCEPTED, sendToolCall } from './send-tool-call.ts'

const test = suite('MCP access')
let fixture: McpFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await Promise.all([McpFixture.open(), ScriptedProvider.start('openai', streamText('Hello.'))])
    const source = await fixture.addSource('handbook')
    const { id } = await fixture.resources.model({ ...provider.model, pricing: { input: 1, output: 1 } })
    await fixture.resources.agent({ name: 'Helper', model_id: id })
    await fixture.resources.ragTool({ name: 'free', knowledge_source_id: source.id, expose_mcp: true })
    await fixture.resources.ragTool({ name: 'paid', knowledge_source_id: source.id, model_id: id, expose_mcp: true })
    await fixture.resources.retrievalTool({ name: 'find', knowledge_source_ids: [source.id], expose_mcp: true })
    await fixture.resources.apiTool({ name: 'fetch', expose_mcp: true })
    await fixture.resources.template({ name: 'greeting' })
  }),
)
test.after(reportFailure(async () => void (await Promise.all([fixture.close(), provider.close()]))))

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

const post = (headers: Record<string, string>, path = '/mcp', body: unknown = INITIALIZE) =>
  fetch(`${fixture.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  })
const authorize = async (role: Role) => ({ authorization: `Bearer ${await fixture.service.token(role)}` })

/** The tools of each role. */
const EXPECTED: Record<Role, string[]> = {
  admin: ['search', 'ask', 'read_document', 'list_sources', 'describe_tables', 'query_table', 'free', 'paid', 'find', 'fetch'],
  editor: ['search', 'ask', 'read_document', 'list_sources', 'describe_tables', 'query_table', 'free', 'paid', 'find', 'fetch'],
  member: ['ask'],
  viewer: ['search', 'read_document', 'list_sources', 'describe_tables', 'query_table', 'free', 'paid', 'find'],
}

for (const role of ROLES) {
  test(`${role} sees and may call only the tools of the role`, async () => {
    const client = await fixture.connect('2026-07-28', role)
    const names = (await client.listTools()).tools.map(({ name }) => name)
    assert.equal(names, EXPECTED[role])
    for (const [name, { access }] of Object.entries(MCP_TOOLS)) assert.is(names.includes(name), hasAccess(role, access))
    for (const name of EXPECTED.admin.filter((tool) => !names.includes(tool))) {
      const { isError, content } = await client.callTool({ name, arguments: {} })
      assert.equal([isError, content[0].text], [true, `The role ${role} does not have permission for this request.`])
    }
  })

  test(`${role}: documents and prompts need the role for them`, async () => {
    const client = await fixture.connect('handshake', role)
    const mayRead = role !== 'member'
    assert.is((await client.listResources()).resources.length, mayRead ? 2 : 0)
    assert.is((await client.listPrompts()).prompts.length, mayRead ? 1 : 0)
    const read = client.readResource({ uri: 'cadre://sources/handbook/leave.md' })
    const render = client.getPrompt({ name: 'greeting', arguments: { name: 'Ada' } })
    const complete = client.complete({ ref: { type: 'ref/resource', uri: 'x' }, argument: { name: 'source', value: '' } })
    const getOutcome = (request: Promise<unknown>) =>
      request.then(
        () => 'allowed',
        () => 'refused',
      )
    assert.equal(await Promise.all([read, render].map(getOutcome)), mayRead ? ['allowed', 'allowed'] : ['refused', 'refused'])
    assert.equal((await complete).completion.values, mayRead ? ['handbook'] : [])
  })
}

test('missing and invalid tokens are rejected, also in the URL', async () => {
  const token = await fixture.service.token('admin')
  const requests = [
    post({}),
    post({ authorization: 'Bearer wrong' }),
    post({}, `/mcp?token=${token}`),
    post({}, `/mcp?access_token=${token}`),
  ]
  for (const response of await Promise.all([...requests, fetch(`${fixture.url}/mcp`)])) {
    assert.is(response.status, 401)
    assert.is(response.headers.get('www-authenticate'), 'Bearer')
  }
})

test('requests of other origins and for other hosts are rejected', async () => {
  const headers = await authorize('admin')
  assert.is((await post({ ...headers, origin: 'https://evil.example.com' })).status, 403)
  const { statusCode } = await fixture.service.app.server.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, host: 'evil.example.com', 'content-type': 'application/json' },
    payload: INITIALIZE,
  })
  assert.is(statusCode, 403)
  assert.is((await post({ ...headers, origin: fixture.url })).status, 200)
})

test('GET and DELETE, which belong to stored sessions, are not allowed', async () => {
  const headers = { ...(await authorize('admin')), accept: 'text/event-stream' }
  for (const method of ['GET', 'DELETE']) assert.is((await fetch(`${fixture.url}/mcp`, { method, headers })).status, 405)
})

test('a viewer may use only models that cost nothing', async () => {
  const client = await fixture.connect('2026-07-28', 'viewer')
  const query = { query: 'How many days of leave?' }
  assert.not((await client.callTool({ name: 'free', arguments: query })).isError)
  const { isError, content } = await client.callTool({ name: 'paid', arguments: query })
  assert.is(isError, true)
  assert.match(content[0].text, 'A viewer may only call models that cost nothing.')
})

test('a question is charged to the user of the token and stored nowhere else', async () => {
  const before = (await fixture.service.get('/conversations')).body.pagination.total
  const client = await fixture.connect('2026-07-28', 'member')
  const { structuredContent } = await client.callTool({ name: 'ask', arguments: { question: 'Hello?' } })
  assert.is(structuredContent.answer, 'Hello.')
  assert.is((await fixture.service.get('/conversations')).body.pagination.total, before)
  const { data } = await fixture.service.get('/usage/stats')
  assert.ok(data.by_entity.user[MEMBER_USER].tokens > 0)
})

test('a budget that blocks is respected', async () => {
  const { id } = await fixture.resources.threshold({ limit: 1, action: 'block' })
  const client = await fixture.connect('2026-07-28', 'editor')
  const { isError, content } = await client.callTool({ name: 'ask', arguments: { question: 'Hello?' } })
  await fixture.service.delete(`/usage/thresholds/${id}`)
  assert.is(isError, true)
  assert.match(content[0].text, /threshold|budget|limit/i)
})

test('requests count towards the rate limit of the token', async () => {
  const limited = await McpFixture.open({ rateLimit: 4 })
  const client = await limited.connect('2026-07-28')
  await client.listTools()
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const headers = { authorization: `Bearer ${await limited.service.token('admin')}`, 'content-type': 'application/json' }
      return (await fetch(`${limited.url}/mcp`, { method: 'POST', headers, body: '{}' })).status
    }),
  )
  await limited.close()
  assert.ok(statuses.includes(429), String(statuses))
})

test('a tool that requires confirmation asks the user of a client that can, and is refused otherwise', async () => {
  const server = await startRecordingServer()
  await fixture.resources.apiTool({
    name: 'send',
    method: 'POST',
    url: `${server.origin}/send`,
    allow_private_network: true,
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    expose_mcp: true,
  })
  const call = { name: 'send', arguments: { text: 'hi' } }
  for (const generation of ['2026-07-28', 'handshake', 'sdk 1'] as const) {
    const { isError, content } = await (await fixture.connect(generation)).callTool(call)
    assert.is(isError, true)
    assert.match(content[0].text, 'requires confirmation')
  }
  const asking = await fixture.connect('2026-07-28', 'admin', { elicitation: {} })
  const questions: string[] = []
  let action = 'decline'
  ;(asking as Json).setRequestHandler('elicitation/create', async ({ params }: Json) => {
    questions.push(params.message)
    return action === 'accept' ? { action, content: {} } : { action }
  })
  assert.match((await asking.callTool(call)).content[0].text, 'The user did not confirm the call.')
  assert.is(server.requests.length, 0)
  action = 'accept'
  const { structuredContent } = await asking.callTool(call)
  assert.is(structuredContent.status, 200)
  assert.is(server.requests.length, 1)
  assert.equal(questions, Array(2).fill('Call the tool "send" with {"text":"hi"}?'))
  const { annotations } = (await asking.listTools()).tools.find(({ name }) => name === 'send')
  assert.equal([annotations.readOnlyHint, annotations.destructiveHint], [false, true])
  await server.close()
})

test('an answer confirms only the call that was asked about, once, of the caller who was asked', async () => {
  const server = await startRecordingServer()
  await fixture.resources.apiTool({
    name: 'pay',
    method: 'POST',
    url: `${server.origin}/pay`,
    allow_private_network: true,
    parameters: { type: 'object', properties: { to: { type: 'string' } } },
    expose_mcp: true,
  })
  const token = await fixture.service.token('admin')
  const call = (to: string, more: object = {}, { bearer = token, capabilities = { elicitation: {} } as object } = {}): Promise<Json> =>
    sendToolCall({ url: fixture.url, token: bearer, name: 'pay', arguments: { to }, capabilities, more })
  const ask = async (to: string): Promise<string> => (await call(to)).requestState
  const isAsked = ({ resultType }: Json) => resultType === 'input_required'

  assert.ok(isAsked(await call('A', ACCEPTED)), 'an answer without a question')
  assert.ok(isAsked(await call('A', { ...ACCEPTED, requestState: 'guessed' })), 'an unknown question')
  assert.ok(isAsked(await call('B', { ...ACCEPTED, requestState: await ask('A') })), 'other arguments')
  const other = (await fixture.service.call('POST', '/api/tokens', { name: 'Other', role: 'admin' })).data.token
  assert.ok(isAsked(await call('A', { ...ACCEPTED, requestState: await ask('A') }, { bearer: other })), 'another caller')
  const unable = await call('A', { ...ACCEPTED, requestState: await ask('A') }, { capabilities: {} })
  assert.is(unable.isError, true)
  const spent = await ask('A')
  await call('B', { ...ACCEPTED, requestState: spent })
  assert.ok(isAsked(await call('A', { ...ACCEPTED, requestState: spent })), 'a question that was answered for another call')
  assert.is(server.requests.length, 0)

  const state = await ask('A')
  assert.is((await call('A', { ...ACCEPTED, requestState: state })).structuredContent.status, 200)
  assert.ok(isAsked(await call('A', { ...ACCEPTED, requestState: state })), 'a repeated answer')
  assert.is(server.requests.length, 1)
  await server.close()
})

test.run()
