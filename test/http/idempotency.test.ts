import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources, uniqueName } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('idempotency')
let service: TestServer

test.before(
  aloud(async () => {
    service = await TestServer.start()
  }),
)
test.after(aloud(() => service.close()))

const key = (value: string) => ({ headers: { 'idempotency-key': value } })
const total = async (path: string) => (await service.get(`${path}?limit=1`)).body.pagination.total

test('the same key and body get the same answer and one effect', async () => {
  const body = { name: uniqueName('agent'), description: 'once' }
  const before = await total('/agents')
  const first = await service.post('/agents', body, key('one'))
  const again = await service.post('/agents', body, key('one'))
  assert.equal([first.status, again.status], [201, 201])
  assert.equal(again.body, first.body)
  assert.is(again.headers.etag, first.headers.etag)
  assert.equal([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']], [undefined, 'true'])
  assert.is(await total('/agents'), before + 1)
})

test('the two spellings of a path are one request', async () => {
  const body = { name: uniqueName('agent') }
  const first = await service.post('/api/agents', body, key('versions'))
  assert.equal((await service.post('/api/v1/agents', body, key('versions'))).body, first.body)
})

test('the same key with another body, path or query is a conflict and has no effect', async () => {
  const agent = { name: uniqueName('agent') }
  await service.post('/agents', agent, key('two'))
  const before = await total('/agents')
  await expectError(service.post('/agents', { ...agent, description: 'x' }, key('two')), 'CONFLICT', { hint: /new key/ })
  await expectError(service.post('/prompt-templates', { name: 'x', template: 'x' }, key('two')), 'CONFLICT')
  assert.is(await total('/agents'), before)
})

test('keys belong to a token: another one may use the same', async () => {
  const body = { name: uniqueName('agent') }
  const admin = await service.post('/agents', body, key('three'))
  const editor = await service.post('/agents', body, { ...key('three'), as: 'editor' })
  assert.equal([admin.status, editor.status], [201, 201])
  assert.is.not(admin.data.id, editor.data.id)
})

test('of many at the same time one has the effect, and all get its answer', async () => {
  const body = { name: uniqueName('agent') }
  const before = await total('/agents')
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.post('/agents', body, key('four'))))
  assert.equal([...new Set(answers.map(({ status }) => status))], [201])
  assert.is(new Set(answers.map(({ data }) => data.id)).size, 1)
  assert.is(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  assert.is(await total('/agents'), before + 1)
})

test('so it is with what takes its time, as documents do', async () => {
  const source = await new Resources(service).source()
  const send = () => service.post(`/knowledge-sources/${source.id}/documents`, { name: 'a.md', content: 'x' }, key('slow'))
  const answers = await Promise.all(Array.from({ length: 10 }, send))
  assert.equal([...new Set(answers.map(({ text }) => text))].length, 1)
  assert.is(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
})

test('a request that was refused leaves the key free', async () => {
  await expectError(service.post('/agents', { name: '' }, key('five')), 'VALIDATION_ERROR')
  await expectError(service.post('/agents', { name: 'x', model_id: 'nothing' }, key('five')), 'VALIDATION_ERROR')
  assert.is((await service.post('/agents', { name: uniqueName('agent') }, key('five'))).status, 201)
})

test('actions are done once too', async () => {
  const template = await new Resources(service).template()
  const render = () => service.post(`/prompt-templates/${template.id}/render`, { variables: { name: 'Ada' } }, key('six'))
  assert.equal((await render()).body, (await render()).body)
  const source = await new Resources(service).source()
  const document = () => service.post(`/knowledge-sources/${source.id}/documents`, { name: 'a.md', content: 'x' }, key('seven'))
  const [first, second] = [await document(), await document()]
  assert.equal(second.body, first.body)
  assert.is(second.headers['idempotent-replayed'], 'true')
})

test('a key that is no key is refused', async () => {
  for (const value of [' ', 'with space', 'ü', 'x'.repeat(256), 'tab\tinside'])
    await expectError(service.post('/agents', { name: 'x' }, key(value)), 'VALIDATION_ERROR')
  assert.is((await service.post('/agents', { name: uniqueName('agent') }, key('~'.repeat(255)))).status, 201)
})

test('an answer that shows a secret is kept sealed, and shown again only under its key', async () => {
  const make = () => service.post('/webhooks', { url: 'https://hooks.example.com/', events: ['conversation.completed'] }, key('eight'))
  const first = await make()
  assert.match(first.data.secret, /^whsec_/)
  assert.is((await make()).data.secret, first.data.secret)
  const token = await service.post('/tokens', { name: 'x', role: 'viewer' }, key('nine'))
  const rows = await service.database.all<{ reply: string }>('SELECT reply FROM idempotency')
  const kept = rows.map(({ reply }) => reply).join('\n')
  assert.not.match(kept, first.data.secret)
  assert.not.match(kept, token.data.token)
  assert.is(rows.filter(({ reply }) => reply.startsWith('v1.')).length, 2)
})

test('keys are forgotten after a day', async () => {
  const body = { name: uniqueName('agent') }
  const first = await service.post('/agents', body, key('old'))
  const yesterday = new Date(Date.now() - 24 * 3600_000 - 1000).toISOString()
  await service.database.write((transaction) => transaction.run("UPDATE idempotency SET created_at = ? WHERE key = 'old'", [yesterday]))
  const later = await service.post('/agents', body, key('old'))
  assert.is.not(later.data.id, first.data.id)
  const kept = await service.database.all('SELECT 1 FROM idempotency WHERE created_at <= ?', [yesterday])
  assert.equal(kept, [])
})

test('keys outlive a restart', async () => {
  const body = { name: uniqueName('agent') }
  const first = await service.post('/agents', body, key('restart'))
  const home = await service.stop()
  service = await TestServer.start({ home })
  const again = await service.post('/agents', body, key('restart'))
  assert.equal(again.body, first.body)
  assert.is((await service.get(`/agents?name=${encodeURIComponent(body.name)}`)).body.pagination.total, 1)
})

test.run()
