import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { version } from '../../src/version.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('door')
let service: TestServer
let resources: Resources

test.before(
  aloud(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
  }),
)
test.after(aloud(() => service.close()))

const methodsOf = new Map<string, string[]>()
for (const { path, method } of ALL_ROUTES) methodsOf.set(path, [...(methodsOf.get(path) ?? []), method])

for (const [path, methods] of methodsOf) {
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter((method) => !methods.includes(method))
  test(`${path} says which methods it has when asked for another`, async () => {
    for (const prefix of ['/api', '/api/v1']) {
      for (const method of others) {
        const answer = await service.call(method, prefix + path.replaceAll(/\{\w+\}/g, 'nobody'))
        assert.equal([answer.status, answer.body.code], [405, 'METHOD_NOT_ALLOWED'], method)
        assert.is(answer.headers.allow, methods.join(', '))
      }
    }
  })
}

test('both forms of a path are the same route', async () => {
  const agent = await resources.agent()
  const plain = await service.get(`/api/agents/${agent.id}`)
  const versioned = await service.get(`/api/v1/agents/${agent.id}`)
  assert.equal(versioned.body, plain.body)
  assert.is(versioned.headers.etag, plain.headers.etag)
  await expectError(service.get(`/api/v2/agents/${agent.id}`), 'NOT_FOUND')
  await expectError(service.get('/api/v1'), 'NOT_FOUND')
})

test('a slash at the end makes no difference', async () => {
  const agent = await resources.agent()
  assert.equal((await service.get(`/agents/${agent.id}/`)).body, (await service.get(`/agents/${agent.id}`)).body)
  assert.is((await service.get('/agents/')).status, 200)
  assert.is((await service.get('/health/', { as: null })).status, 200)
})

test('paths that do not exist are not found, in the usual shape', async () => {
  for (const path of ['/nothing', '/agents/a/b/c', '/Agents', '/agents/x/../../tokens/x/y'])
    await expectError(service.get(path), 'NOT_FOUND', { error: /There is no/ })
})

test('a path that cannot be decoded, or is too long, is a bad request and says no more than that', async () => {
  for (const path of ['/agents/%zz', '/agents/%', `/agents/${'x'.repeat(5_000)}`]) {
    const { text } = await service.get(path)
    await expectError(service.get(path, { as: null }), 'VALIDATION_ERROR')
    assert.ok(text.length < 300, text)
    await expectError(service.get(path, { headers: { host: 'evil.example' } }), 'FORBIDDEN')
  }
})

test('every answer has a request id of its own, which its error repeats', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.get('/agents/nobody')))
  assert.is(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 20)
  for (const { headers, body } of answers) assert.is(body.request_id, headers['x-request-id'])
  const forged = await service.get('/agents/nobody', { headers: { 'request-id': 'mine', 'x-request-id': 'mine' } })
  assert.is.not(forged.body.request_id, 'mine')
})

test('answers are not cached and not guessed at', async () => {
  const { headers } = await service.get('/agents')
  assert.equal([headers['cache-control'], headers['x-content-type-options']], ['no-store', 'nosniff'])
})

test('HEAD answers like GET, without the body', async () => {
  const agent = await resources.agent()
  const read = await service.get(`/agents/${agent.id}`)
  const head = await service.call('HEAD', `/agents/${agent.id}`)
  assert.equal([head.status, head.text, head.headers.etag], [200, '', read.headers.etag])
  assert.is(head.headers['content-length'], String(Buffer.byteLength(read.text)))
  assert.is((await service.call('HEAD', '/agents/nobody')).status, 404)
  assert.is((await service.call('HEAD', '/agents', undefined, { as: null })).status, 401)
})

test('OPTIONS is no way in', async () => {
  assert.is((await service.call('OPTIONS', '/agents')).status, 405)
  assert.is((await service.call('OPTIONS', '/agents', undefined, { as: null })).status, 401)
})

test('health says how both stores are, without an envelope', async () => {
  const { body } = await service.get('/health', { as: null })
  assert.equal(body, { status: 'healthy', version, database: 'connected', vector_db: 'connected' })
})

test('status says what is there', async () => {
  const before = await expectData(service.get('/status', { as: 'viewer' }))
  await resources.agent()
  const after = await expectData(service.get('/status'))
  assert.is(after.counts.agents, before.counts.agents + 1)
  assert.is(after.version, version)
  assert.is(after.home, service.paths.home)
  assert.is(after.secrets, 'file')
  assert.ok(after.sizes.database > 0 && after.memory.rss > 0 && after.uptime_seconds > 0)
})

test('of many changes at the same time none is lost', async () => {
  const agent = await resources.agent({ variables: {} })
  const fields = { description: 'd', system_prompt: 's', temperature: 0.5, max_tokens: 7, name: 'n', variables: { x: 1 }, topics: ['t'] }
  const changes = Object.entries(fields).map(([name, value]) => service.put(`/agents/${agent.id}`, { [name]: value }))
  assert.equal([...new Set((await Promise.all(changes)).map(({ status }) => status))], [200])
  const after = await expectData(service.get(`/agents/${agent.id}`))
  for (const [name, value] of Object.entries({ ...fields, topics: [{ name: 't', description: '' }] }))
    assert.equal(after[name], value, name)
})

test('of many changes over the same version exactly one is done', async () => {
  const agent = await resources.agent()
  const seen = String((await service.get(`/agents/${agent.id}`)).headers.etag)
  const changes = Array.from({ length: 15 }, (_, index) =>
    service.put(`/agents/${agent.id}`, { description: `by ${index}` }, { headers: { 'if-match': seen } }),
  )
  const answers = await Promise.all(changes)
  const done = answers.filter(({ status }) => status === 200)
  assert.is(done.length, 1)
  assert.is(answers.filter(({ status }) => status === 409).length, 14)
  assert.is((await expectData(service.get(`/agents/${agent.id}`))).description, done[0]?.data.description)
})

test('settings are protected from lost updates as well', async () => {
  const model = await resources.model()
  const { headers } = await service.get('/settings')
  const seen = { headers: { 'if-match': String(headers.etag) } }
  assert.is((await service.put('/settings', { default_model_id: model.id }, seen)).status, 200)
  await expectError(service.put('/settings', { default_model_id: model.id }, seen), 'CONFLICT')
})

test('a document is deleted over the version that was read, or not at all', async () => {
  const document = await resources.document()
  const path = `/knowledge-sources/${document.knowledge_source_id}/documents`
  const seen = { headers: { 'if-match': String((await service.get(`${path}/${document.id}`)).headers.etag) } }
  await expectData(service.post(path, { name: document.name, content: 'another' }))
  await expectError(service.delete(`${path}/${document.id}`, seen), 'CONFLICT')
  const current = { headers: { 'if-match': String((await service.get(`${path}/${document.id}`)).headers.etag) } }
  assert.is((await service.delete(`${path}/${document.id}`, current)).status, 200)
})

test('a failure of its own is masked, named by its request id, and explained in the log', async () => {
  await service.database.write((transaction) => transaction.run('ALTER TABLE evaluations RENAME TO gone_evaluations'))
  const body = await expectError(service.get('/evaluations?name=x'), 'INTERNAL', { hint: /logs/ })
  assert.not.match(JSON.stringify(body), /sqlite|no such table|evaluations|daemon\//i)
  await new Promise((resolve) => setTimeout(resolve, 150))
  const line = service.log.split('\n').find((text) => text.includes(body.request_id) && text.includes('"error"'))
  assert.match(line ?? '', /no such table/)
  await service.database.write((transaction) => transaction.run('ALTER TABLE gone_evaluations RENAME TO evaluations'))
  assert.is((await service.get('/evaluations')).status, 200)
})

test('with a store that cannot be read it is unhealthy, and says which', async () => {
  await service.database.write((transaction) => transaction.run('ALTER TABLE counts RENAME TO gone_counts'))
  const { status, body } = await service.get('/health', { as: null })
  assert.equal([status, body.status, body.database, body.vector_db], [503, 'unhealthy', 'disconnected', 'connected'])
  await service.database.write((transaction) => transaction.run('ALTER TABLE gone_counts RENAME TO counts'))
  assert.is((await service.get('/health', { as: null })).status, 200)
})

test('while it stops, everything is 503', async () => {
  service.app.drain()
  for (const path of ['/agents', '/health', '/nothing']) await expectError(service.get(path), 'UNAVAILABLE', { error: /stopping/ })
  await expectError(service.post('/agents', { name: 'x' }), 'UNAVAILABLE')
})

test.run()
