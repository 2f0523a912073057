import { hash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { HeldDisk } from '../harness/held-disk.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { ADMIN_TOKEN, type Json, TestServer } from '../harness/test-server.ts'

const test = suite('webhooks and tokens')
const disk = new HeldDisk()
let service: TestServer
let resources: Resources

test.before(
  aloud(async () => {
    service = await TestServer.start({ disk: disk.open })
    resources = new Resources(service)
  }),
)
test.after(aloud(() => service.close()))

const hook = (fields: Record<string, unknown> = {}) =>
  service.post('/webhooks', { url: 'https://hooks.example.com/in', events: ['conversation.completed'], ...fields })

test('a webhook gets a signing secret, which is shown once', async () => {
  const created = await hook()
  const { id, secret, created_at: _, updated_at: __, ...rest } = created.data
  assert.equal(rest, {
    url: 'https://hooks.example.com/in',
    events: ['conversation.completed'],
    description: '',
    enabled: true,
    allow_private_network: false,
  })
  assert.match(secret, /^whsec_[A-Za-z0-9+/]+=*$/)
  assert.is(Buffer.from(secret.slice(6), 'base64').length, 32)
  for (const { text } of [
    await service.get(`/webhooks/${id}`),
    await service.get('/webhooks?limit=100'),
    await service.put(`/webhooks/${id}`, { enabled: false }),
  ])
    assert.not.match(text, secret.slice(6))
  const kept = await service.database.get<{ secret: string }>('SELECT secret FROM webhooks WHERE id = ?', [id])
  assert.match(kept?.secret ?? '', /^v1\./)
  assert.is.not((await hook()).data.secret, secret)
})

test('a secret can be brought along, of 24 to 64 bytes', async () => {
  const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
  for (const bytes of [24, 32, 64]) assert.is((await expectData(hook({ secret: secret(bytes) }))).secret, secret(bytes))
  for (const wrong of [secret(23), secret(65), 'whsec_', 'x'.repeat(40), secret(32).replace('whsec_', ''), `${secret(32)}!`, 5])
    await expectError(hook({ secret: wrong }), 'VALIDATION_ERROR', { field: 'secret' })
})

test('events and address are checked', async () => {
  for (const events of [[], ['nothing'], ['conversation.completed', 'conversation.completed'], 'conversation.completed'])
    await expectError(hook({ events }), 'VALIDATION_ERROR')
  for (const url of ['hooks.example.com', 'ftp://x.example/', 'https://u:p@x.example/', 'http://'])
    await expectError(hook({ url }), 'VALIDATION_ERROR', { field: 'url' })
  const all = ['conversation.completed', 'evaluation.finished', 'usage.threshold_exceeded']
  assert.equal((await expectData(hook({ events: all }))).events, all)
})

test('a change keeps the secret', async () => {
  const { id } = (await hook()).data
  const secret = async () => (await service.database.get<{ secret: string }>('SELECT secret FROM webhooks WHERE id = ?', [id]))?.secret
  const before = await secret()
  await expectData(service.put(`/webhooks/${id}`, { url: 'https://other.example/', events: ['evaluation.finished'] }))
  assert.is(await secret(), before)
  await expectError(service.put(`/webhooks/${id}`, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }), 'VALIDATION_ERROR', {
    field: 'secret',
  })
})

test('a token is shown once; only its hash is kept', async () => {
  const created = await service.post('/tokens', { name: 'script', role: 'viewer' })
  const { id, token, created_at: _, updated_at: __, ...rest } = created.data
  assert.equal(rest, { name: 'script', role: 'viewer', user_id: null, expires_at: null, last_used_at: null })
  assert.match(token, /^cadre_[A-Za-z0-9_-]{43}$/)
  for (const { text } of [
    await service.get(`/tokens/${id}`),
    await service.get('/tokens?limit=100'),
    await service.put(`/tokens/${id}`, { name: 'y' }),
  ])
    assert.not.match(text, token)
  const row = await service.database.get<Json>('SELECT * FROM tokens WHERE id = ?', [id])
  assert.is(row.hash, hash('sha256', token, 'hex'))
  assert.not.match(JSON.stringify(row), token)
})

test('the hash of a token is no token, and cannot be set or read', async () => {
  const { token } = await resources.token({ role: 'admin' })
  const digest = hash('sha256', token, 'hex')
  await expectError(service.get('/agents', { as: digest }), 'UNAUTHENTICATED')
  await expectError(service.post('/tokens', { name: 'x', role: 'admin', hash: digest }), 'VALIDATION_ERROR', { field: 'hash' })
  await expectError(service.get(`/tokens?hash=${digest}`), 'VALIDATION_ERROR', { field: 'hash' })
  await expectError(service.get('/tokens?sort=hash'), 'VALIDATION_ERROR', { field: 'sort' })
})

test('roles and users are checked', async () => {
  await expectError(service.post('/tokens', { name: 'x', role: 'root' }), 'VALIDATION_ERROR', { field: 'role' })
  await expectError(service.post('/tokens', { name: 'x', role: 'member' }), 'VALIDATION_ERROR', { field: 'user_id', hint: /conversations/ })
  await expectError(service.post('/tokens', { name: 'x', role: 'member', user_id: '' }), 'VALIDATION_ERROR', { field: 'user_id' })
  await expectError(service.post('/tokens', { role: 'viewer' }), 'VALIDATION_ERROR', { field: 'name' })
  const { id } = await resources.token()
  await expectError(service.put(`/tokens/${id}`, { role: 'admin' }), 'VALIDATION_ERROR', { field: 'role' })
  await expectError(service.put(`/tokens/${id}`, { user_id: 'bob' }), 'VALIDATION_ERROR', { field: 'user_id' })
})

test('a token stops working when it expires', async () => {
  const soon = new Date(Date.now() + 400).toISOString()
  const { token, expires_at } = await resources.token({ expires_at: soon })
  assert.is(expires_at, soon)
  assert.is((await service.get('/agents', { as: token })).status, 200)
  await new Promise((resolve) => setTimeout(resolve, 450))
  await expectError(service.get('/agents', { as: token }), 'UNAUTHENTICATED')
  for (const wrong of ['2020-01-01T00:00:00Z', 'tomorrow', '2099-13-01T00:00:00Z', '2099-12-31T23:59:60Z', 5])
    await expectError(service.post('/tokens', { name: 'x', role: 'viewer', expires_at: wrong }), 'VALIDATION_ERROR', {
      field: 'expires_at',
    })
  assert.is((await resources.token({ expires_at: '2099-01-01T01:00:00+01:00' })).expires_at, '2099-01-01T00:00:00.000Z')
})

test('an expiry that is changed counts at once', async () => {
  const { id, token } = await resources.token()
  assert.is((await service.get('/agents', { as: token })).status, 200)
  await expectData(service.put(`/tokens/${id}`, { expires_at: new Date(Date.now() + 150).toISOString() }))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await expectError(service.get('/agents', { as: token }), 'UNAUTHENTICATED')
  await expectData(service.put(`/tokens/${id}`, { expires_at: null }))
  assert.is((await service.get('/agents', { as: token })).status, 200)
})

test('a deleted token is worthless at once', async () => {
  const { id, token } = await resources.token()
  assert.is((await service.get('/agents', { as: token })).status, 200)
  await expectData(service.delete(`/tokens/${id}`))
  await expectError(service.get('/agents', { as: token }), 'UNAUTHENTICATED')
})

test('a token that is deleted is refused, also where the disk fails last', async () => {
  const { id, token } = await resources.token()
  await expectData(service.get('/agents', { as: token }))
  disk.failure = new Error('the disk is on fire')
  assert.is((await service.delete(`/tokens/${id}`)).status, 500)
  disk.failure = undefined
  await expectError(service.get('/agents', { as: token }), 'UNAUTHENTICATED')
})

test('when a token was last used is known to the minute', async () => {
  const { id, token } = await resources.token()
  await service.get('/agents', { as: token })
  // Nobody waits for it to be written down.
  let last_used_at: string | null = null
  while (last_used_at === null) {
    await new Promise(setImmediate)
    last_used_at = (await expectData(service.get(`/tokens/${id}`))).last_used_at as string | null
  }
  assert.match(last_used_at, /:00\.000Z$/)
  assert.ok(Math.abs(Date.now() - Date.parse(last_used_at)) < 61_000)
})

test('the last admin token that works cannot be deleted or made to expire', async () => {
  const admins = (await expectData(service.get('/tokens?role=admin&limit=100'))) as Json[]
  const own = admins.find(({ name }) => name === 'admin')
  for (const { id } of admins) if (id !== own.id) await expectData(service.delete(`/tokens/${id}`))
  await expectError(service.delete(`/tokens/${own.id}`), 'CONFLICT', { error: /last admin/ })
  await expectError(service.delete(`/tokens/${own.id}?force=true`), 'CONFLICT')
  await expectError(service.put(`/tokens/${own.id}`, { expires_at: '2099-01-01T00:00:00Z' }), 'CONFLICT', { error: /last admin/ })
  const brief = await resources.token({ role: 'admin', expires_at: new Date(Date.now() + 60_000).toISOString() })
  await expectError(service.delete(`/tokens/${own.id}`), 'CONFLICT')
  await expectData(service.delete(`/tokens/${brief.id}`))
  const other = await resources.token({ role: 'admin' })
  await expectData(service.delete(`/tokens/${own.id}`))
  await expectError(service.get('/agents', { as: ADMIN_TOKEN }), 'UNAUTHENTICATED')
  assert.is((await service.get('/agents', { as: other.token })).status, 200)
})

test.run()
