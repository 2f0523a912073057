import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources, uniqueName } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('idempotency')
let server: TestServer

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
  }),
)
test.after(reportFailure(() => server.close()))

const key = (value: string) => ({ headers: { 'idempotency-key': value } })
const total = async (path: string) => (await server.get(`${path}?limit=1`)).body.pagination.total

test('a repeated request returns the first response and has no second effect', async () => {
  const body = { name: uniqueName('agent'), description: 'once' }
  const before = await total('/agents')
  const first = await server.post('/agents', body, key('one'))
  const again = await server.post('/agents', body, key('one'))
  assert.equal([first.status, again.status], [201, 201])
  assert.equal(again.body, first.body)
  assert.is(again.headers.etag, first.headers.etag)
  assert.equal([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']], [undefined, 'true'])
  assert.is(await total('/agents'), before + 1)
})

test('/api and /api/v1 share idempotency keys', async () => {
  const body = { name: uniqueName('agent') }
  const first = await server.post('/api/agents', body, key('versions'))
  assert.equal((await server.post('/api/v1/agents', body, key('versions'))).body, first.body)
})

test('a reused key with another body or path returns CONFLICT and has no effect', async () => {
  const agent = { name: uniqueName('agent') }
  await server.post('/agents', agent, key('two'))
  const before = await total('/agents')
  await expectError(server.post('/agents', { ...agent, description: 'x' }, key('two')), 'CONFLICT', { hint: /new key/ })
  await expectError(server.post('/prompt-templates', { name: 'x', template: 'x' }, key('two')), 'CONFLICT')
  assert.is(await total('/agents'), before)
})

test('a body with its fields in another order is the same request', async () => {
  const name = uniqueName('agent')
  const first = await server.post('/agents', { name, variables: { a: 1, b: [{ c: 1, d: 2 }] } }, key('order'))
  const again = await server.post('/agents', { variables: { b: [{ d: 2, c: 1 }], a: 1 }, name }, key('order'))
  assert.equal([again.status, again.data, again.headers['idempotent-replayed']], [201, first.data, 'true'])
  await expectError(server.post('/agents', { name, variables: { a: 1, b: [{ c: 2, d: 1 }] } }, key('order')), 'CONFLICT')
})

test('idempotency keys of different tokens are independent', async () => {
  const body = { name: uniqueName('agent') }
  const admin = await server.post('/agents', body, key('three'))
  const editor = await server.post('/agents', body, { ...key('three'), as: 'editor' })
  assert.equal([admin.status, editor.status], [201, 201])
  assert.is.not(admin.data.id, editor.data.id)
})

test('of concurrent requests with one key only the first has an effect and all return its response', async () => {
  const body = { name: uniqueName('agent') }
  const before = await total('/agents')
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.post('/agents', body, key('four'))))
  assert.equal([...new Set(answers.map(({ status }) => status))], [201])
  assert.is(new Set(answers.map(({ data }) => data.id)).size, 1)
  assert.is(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  assert.is(await total('/agents'), before + 1)
})

test('concurrent document uploads with one key create one document', async () => {
  const source = await new Resources(server).source()
  const send = () => server.post(`/knowledge-sources/${source.id}/documents`, { name: 'a.md', content: 'x' }, key('slow'))
  const answers = await Promise.all(Array.from({ length: 10 }, send))
  assert.equal([...new Set(answers.map(({ text }) => text))].length, 1)
  assert.is(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
})

test('a rejected request does not use up its key', async () => {
  await expectError(server.post('/agents', { name: '' }, key('five')), 'VALIDATION_ERROR')
  await expectError(server.post('/agents', { name: 'x', model_id: 'nothing' }, key('five')), 'VALIDATION_ERROR')
  assert.is((await server.post('/agents', { name: uniqueName('agent') }, key('five'))).status, 201)
})

test('actions are idempotent too', async () => {
  const template = await new Resources(server).template()
  const render = () => server.post(`/prompt-templates/${template.id}/render`, { variables: { name: 'Ada' } }, key('six'))
  assert.equal((await render()).body, (await render()).body)
  const source = await new Resources(server).source()
  const document = () => server.post(`/knowledge-sources/${source.id}/documents`, { name: 'a.md', content: 'x' }, key('seven'))
  const [first, second] = [await document(), await document()]
  assert.equal(second.body, first.body)
  assert.is(second.headers['idempotent-replayed'], 'true')
})

test('a malformed key is rejected', async () => {
  for (const value of [' ', 'with space', 'ü', 'x'.repeat(256), 'tab\tinside'])
    await expectError(server.post('/agents', { name: 'x' }, key(value)), 'VALIDATION_ERROR')
  assert.is((await server.post('/agents', { name: uniqueName('agent') }, key('~'.repeat(255)))).status, 201)
})

test('a stored response with a secret is encrypted', async () => {
  const make = () => server.post('/webhooks', { url: 'https://hooks.example.com/', events: ['conversation.completed'] }, key('eight'))
  const first = await make()
  assert.match(first.data.secret, /^whsec_/)
  assert.is((await make()).data.secret, first.data.secret)
  const token = await server.post('/tokens', { name: 'x', role: 'viewer' }, key('nine'))
  const rows = await server.database.all<{ reply: string }>('SELECT reply FROM idempotency')
  const kept = rows.map(({ reply }) => reply).join('\n')
  assert.not.match(kept, first.data.secret)
  assert.not.match(kept, token.data.token)
  assert.is(rows.filter(({ reply }) => reply.startsWith('v1.')).length, 2)
})

test('keys expire after 24 hours', async () => {
  const body = { name: uniqueName('agent') }
  const first = await server.post('/agents', body, key('old'))
  const yesterday = new Date(Date.now() - 24 * 3600_000 - 1000).toISOString()
  await server.database.write((transaction) => transaction.run("UPDATE idempotency SET created_at = ? WHERE key = 'old'", [yesterday]))
  const later = await server.post('/agents', body, key('old'))
  assert.is.not(later.data.id, first.data.id)
  const kept = await server.database.all('SELECT 1 FROM idempotency WHERE created_at <= ?', [yesterday])
  assert.equal(kept, [])
})

test('keys are kept over a restart', async () => {
  const body = { name: uniqueName('agent') }
  const first = await server.post('/agents', body, key('restart'))
  const home = await server.stop()
  server = await TestServer.start({ home })
  const again = await server.post('/agents', body, key('restart'))
  assert.equal(again.body, first.body)
  assert.is((await server.get(`/agents?name=${encodeURIComponent(body.name)}`)).body.pagination.total, 1)
})

test.run()
