import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { version } from '../../src/version.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('server')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const methodsByPath = new Map<string, string[]>()
for (const { path, method } of ALL_ROUTES) methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method])

for (const [path, methods] of methodsByPath) {
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter((method) => !methods.includes(method))
  test(`${path} returns 405 and Allow for unsupported methods`, async () => {
    const isOpenai = path.startsWith('/v1/')
    for (const prefix of isOpenai ? [''] : ['/api', '/api/v1']) {
      for (const method of others) {
        const answer = await server.call(method, prefix + path.replaceAll(/\{\w+\}/g, 'nobody'))
        const code = isOpenai ? answer.body.error.code : answer.body.code
        assert.equal([answer.status, code], [405, isOpenai ? 'method_not_allowed' : 'METHOD_NOT_ALLOWED'], method)
        assert.is(answer.headers.allow, methods.join(', '))
      }
    }
  })
}

test('/api and /api/v1 are the same routes', async () => {
  const agent = await resources.agent()
  const plain = await server.get(`/api/agents/${agent.id}`)
  const versioned = await server.get(`/api/v1/agents/${agent.id}`)
  assert.equal(versioned.body, plain.body)
  assert.is(versioned.headers.etag, plain.headers.etag)
  await expectError(server.get(`/api/v2/agents/${agent.id}`), 'NOT_FOUND')
  await expectError(server.get('/api/v1'), 'NOT_FOUND')
})

test('a trailing slash is ignored', async () => {
  const agent = await resources.agent()
  assert.equal((await server.get(`/agents/${agent.id}/`)).body, (await server.get(`/agents/${agent.id}`)).body)
  assert.is((await server.get('/agents/')).status, 200)
  assert.is((await server.get('/health/', { as: null })).status, 200)
})

test('an unknown path returns NOT_FOUND', async () => {
  for (const path of ['/nothing', '/agents/a/b/c', '/Agents', '/agents/x/../../tokens/x/y'])
    await expectError(server.get(path), 'NOT_FOUND', { error: /There is no/ })
})

test('a malformed or too long path returns VALIDATION_ERROR without details', async () => {
  for (const path of ['/agents/%zz', '/agents/%', `/agents/${'x'.repeat(5_000)}`]) {
    const { text } = await server.get(path)
    await expectError(server.get(path, { as: null }), 'VALIDATION_ERROR')
    assert.ok(text.length < 300, text)
    await expectError(server.get(path, { headers: { host: 'evil.example' } }), 'FORBIDDEN')
  }
})

test('every response has a unique request ID, which its error body repeats', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.get('/agents/nobody')))
  assert.is(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 20)
  for (const { headers, body } of answers) assert.is(body.request_id, headers['x-request-id'])
  const forged = await server.get('/agents/nobody', { headers: { 'request-id': 'mine', 'x-request-id': 'mine' } })
  assert.is.not(forged.body.request_id, 'mine')
})

test('responses disable caching and content type sniffing', async () => {
  const { headers } = await server.get('/agents')
  assert.equal([headers['cache-control'], headers['x-content-type-options']], ['no-store', 'nosniff'])
})

test('HEAD returns the headers of GET without the body', async () => {
  const agent = await resources.agent()
  const read = await server.get(`/agents/${agent.id}`)
  const head = await server.call('HEAD', `/agents/${agent.id}`)
  assert.equal([head.status, head.text, head.headers.etag], [200, '', read.headers.etag])
  assert.is(head.headers['content-length'], String(Buffer.byteLength(read.text)))
  assert.is((await server.call('HEAD', '/agents/nobody')).status, 404)
  assert.is((await server.call('HEAD', '/agents', undefined, { as: null })).status, 401)
})

test('OPTIONS requires a token and is not allowed', async () => {
  assert.is((await server.call('OPTIONS', '/agents')).status, 405)
  assert.is((await server.call('OPTIONS', '/agents', undefined, { as: null })).status, 401)
})

test('health reports both stores, without an envelope', async () => {
  const { body } = await server.get('/health', { as: null })
  assert.equal(body, { status: 'healthy', version, database: 'connected', vector_db: 'connected' })
})

test('status reports counts, sizes and versions', async () => {
  const before = await expectData(server.get('/status', { as: 'viewer' }))
  await resources.agent()
  const after = await expectData(server.get('/status'))
  assert.is(after.counts.agents, before.counts.agents + 1)
  assert.is(after.version, version)
  assert.is(after.home, server.paths.home)
  assert.is(after.secrets, 'file')
  assert.ok(after.sizes.database > 0 && after.memory.rss > 0 && after.uptime_seconds > 0)
})

test('concurrent updates of different fields are all applied', async () => {
  const agent = await resources.agent({ variables: {} })
  const fields = { description: 'd', system_prompt: 's', temperature: 0.5, max_tokens: 7, name: 'n', variables: { x: 1 }, topics: ['t'] }
  const changes = Object.entries(fields).map(([name, value]) => server.put(`/agents/${agent.id}`, { [name]: value }))
  assert.equal([...new Set((await Promise.all(changes)).map(({ status }) => status))], [200])
  const after = await expectData(server.get(`/agents/${agent.id}`))
  for (const [name, value] of Object.entries({ ...fields, topics: [{ name: 't', description: '' }] }))
    assert.equal(after[name], value, name)
})

test('of concurrent updates with the same If-Match exactly one succeeds', async () => {
  const agent = await resources.agent()
  const seen = String((await server.get(`/agents/${agent.id}`)).headers.etag)
  const changes = Array.from({ length: 15 }, (_, index) =>
    server.put(`/agents/${agent.id}`, { description: `by ${index}` }, { headers: { 'if-match': seen } }),
  )
  const answers = await Promise.all(changes)
  const done = answers.filter(({ status }) => status === 200)
  assert.is(done.length, 1)
  assert.is(answers.filter(({ status }) => status === 412).length, 14)
  assert.is((await expectData(server.get(`/agents/${agent.id}`))).description, done[0]?.data.description)
})

test('settings support If-Match', async () => {
  const model = await resources.model()
  const { headers } = await server.get('/settings')
  const seen = { headers: { 'if-match': String(headers.etag) } }
  assert.is((await server.put('/settings', { default_model_id: model.id }, seen)).status, 200)
  await expectError(server.put('/settings', { default_model_id: model.id }, seen), 'PRECONDITION_FAILED')
})

test('deleting a document supports If-Match', async () => {
  const document = await resources.document()
  const path = `/knowledge-sources/${document.knowledge_source_id}/documents`
  const seen = { headers: { 'if-match': String((await server.get(`${path}/${document.id}`)).headers.etag) } }
  await expectData(server.post(path, { name: document.name, content: 'another' }))
  await expectError(server.delete(`${path}/${document.id}`, seen), 'PRECONDITION_FAILED')
  const current = { headers: { 'if-match': String((await server.get(`${path}/${document.id}`)).headers.etag) } }
  assert.is((await server.delete(`${path}/${document.id}`, current)).status, 200)
})

test('an internal error is hidden from the client and logged with its request ID', async () => {
  await server.database.write((transaction) => transaction.run('ALTER TABLE evaluations RENAME TO gone_evaluations'))
  const body = await expectError(server.get('/evaluations?name=x'), 'INTERNAL', { hint: /logs/ })
  assert.not.match(JSON.stringify(body), /sqlite|no such table|evaluations|daemon\//i)
  await new Promise((resolve) => setTimeout(resolve, 150))
  const line = server.log.split('\n').find((text) => text.includes(body.request_id) && text.includes('"error"'))
  assert.match(line ?? '', /no such table/)
  await server.database.write((transaction) => transaction.run('ALTER TABLE gone_evaluations RENAME TO evaluations'))
  assert.is((await server.get('/evaluations')).status, 200)
})

test('health returns 503 and names the store that cannot be read', async () => {
  await server.database.write((transaction) => transaction.run('ALTER TABLE counts RENAME TO gone_counts'))
  const { status, body } = await server.get('/health', { as: null })
  assert.equal([status, body.status, body.database, body.vector_db], [503, 'unhealthy', 'disconnected', 'connected'])
  await server.database.write((transaction) => transaction.run('ALTER TABLE gone_counts RENAME TO counts'))
  assert.is((await server.get('/health', { as: null })).status, 200)
})

test('liveness does not depend on the stores, readiness does', async () => {
  const getProbes = async () => {
    const probes = await Promise.all(['/health/live', '/health/ready'].map((path) => server.get(path, { as: null })))
    return probes.map(({ status, body }) => [status, body])
  }
  const live = [200, { status: 'live' }]
  const ready = [200, { status: 'ready', database: 'connected', vector_db: 'connected' }]
  assert.equal(await getProbes(), [live, ready])
  await server.database.write((transaction) => transaction.run('ALTER TABLE counts RENAME TO gone_counts'))
  const waitForStatus = (status: number) => waitFor(async () => (await server.get('/health/ready', { as: null })).status === status)
  await waitForStatus(503)
  assert.equal(await getProbes(), [live, [503, { status: 'not_ready', database: 'disconnected', vector_db: 'connected' }]])
  await server.database.write((transaction) => transaction.run('ALTER TABLE gone_counts RENAME TO counts'))
  await waitForStatus(200)
})

test('a draining daemon returns 503 for every request except liveness', async () => {
  server.app.drain()
  assert.is((await server.get('/health/live', { as: null })).status, 200)
  await expectError(server.get('/health/ready', { as: null }), 'UNAVAILABLE', { error: /stopping/ })
  for (const path of ['/agents', '/health', '/nothing']) await expectError(server.get(path), 'UNAVAILABLE', { error: /stopping/ })
  await expectError(server.post('/agents', { name: 'x' }), 'UNAVAILABLE')
})

test.run()
