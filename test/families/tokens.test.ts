import { hash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../daemon/async/deferred.ts'
import { createSingleDaemon } from '../../daemon/cluster/single-daemon.ts'
import type { Value } from '../../daemon/store/database.ts'
import { TokensService } from '../../daemon/tokens/service.ts'
import { ShiftedClock } from '../harness/clocks/shifted-clock.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { PausableDisk } from '../harness/pausable-disk.ts'
import { Resources } from '../harness/resources.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { ADMIN_TOKEN, type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('webhooks and tokens')
const disk = new PausableDisk()
const clock = new ShiftedClock()
const HOUR_MS = 3_600_000
const createExpiry = () => new Date(clock.now() + HOUR_MS).toISOString()
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start({ disk: disk.open, clock })
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const hook = (fields: Record<string, unknown> = {}) =>
  server.post('/webhooks', { url: 'https://hooks.example.com/in', events: ['conversation.completed'], ...fields })

test('the signing secret of a webhook is returned only on create', async () => {
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
    await server.get(`/webhooks/${id}`),
    await server.get('/webhooks?limit=100'),
    await server.put(`/webhooks/${id}`, { enabled: false }),
  ])
    assert.not.match(text, secret.slice(6))
  const kept = await server.database.get<{ secret: string }>('SELECT secret FROM webhooks WHERE id = ?', [id])
  assert.match(kept?.secret ?? '', /^v1\./)
  assert.is.not((await hook()).data.secret, secret)
})

test('a signing secret of 24 to 64 bytes can be provided', async () => {
  const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
  for (const bytes of [24, 32, 64]) assert.is((await expectData(hook({ secret: secret(bytes) }))).secret, secret(bytes))
  for (const wrong of [secret(23), secret(65), 'whsec_', 'x'.repeat(40), secret(32).replace('whsec_', ''), `${secret(32)}!`, 5])
    await expectError(hook({ secret: wrong }), 'VALIDATION_ERROR', { field: 'secret' })
})

test('events and URL of a webhook are validated', async () => {
  for (const events of [[], ['nothing'], ['conversation.completed', 'conversation.completed'], 'conversation.completed'])
    await expectError(hook({ events }), 'VALIDATION_ERROR')
  for (const url of ['hooks.example.com', 'ftp://x.example/', 'https://u:p@x.example/', 'http://'])
    await expectError(hook({ url }), 'VALIDATION_ERROR', { field: 'url' })
  const all = ['conversation.completed', 'evaluation.finished', 'usage.threshold_exceeded']
  assert.equal((await expectData(hook({ events: all }))).events, all)
})

test('updating a webhook keeps its secret', async () => {
  const { id } = (await hook()).data
  const secret = async () => (await server.database.get<{ secret: string }>('SELECT secret FROM webhooks WHERE id = ?', [id]))?.secret
  const before = await secret()
  await expectData(server.put(`/webhooks/${id}`, { url: 'https://other.example/', events: ['evaluation.finished'] }))
  assert.is(await secret(), before)
  await expectError(server.put(`/webhooks/${id}`, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }), 'VALIDATION_ERROR', {
    field: 'secret',
  })
})

test('a token is returned only on create, and only its hash is stored', async () => {
  const created = await server.post('/tokens', { name: 'script', role: 'viewer' })
  const { id, token, created_at: _, updated_at: __, ...rest } = created.data
  assert.equal(rest, { name: 'script', role: 'viewer', user_id: null, expires_at: null, last_used_at: null })
  assert.match(token, /^cadre_[A-Za-z0-9_-]{43}$/)
  for (const { text } of [
    await server.get(`/tokens/${id}`),
    await server.get('/tokens?limit=100'),
    await server.put(`/tokens/${id}`, { name: 'y' }),
  ])
    assert.not.match(text, token)
  const row = await server.database.get<Json>('SELECT * FROM tokens WHERE id = ?', [id])
  assert.is(row.hash, hash('sha256', token, 'hex'))
  assert.not.match(JSON.stringify(row), token)
})

test('the hash of a token cannot be used as token, set or read', async () => {
  const { token } = await resources.token({ role: 'admin' })
  const digest = hash('sha256', token, 'hex')
  await expectError(server.get('/agents', { as: digest }), 'UNAUTHENTICATED')
  await expectError(server.post('/tokens', { name: 'x', role: 'admin', hash: digest }), 'VALIDATION_ERROR', { field: 'hash' })
  await expectError(server.get(`/tokens?hash=${digest}`), 'VALIDATION_ERROR', { field: 'hash' })
  await expectError(server.get('/tokens?sort=hash'), 'VALIDATION_ERROR', { field: 'sort' })
})

test('role and user of a token are validated and cannot be changed', async () => {
  await expectError(server.post('/tokens', { name: 'x', role: 'root' }), 'VALIDATION_ERROR', { field: 'role' })
  await expectError(server.post('/tokens', { name: 'x', role: 'member' }), 'VALIDATION_ERROR', { field: 'user_id', hint: /conversations/ })
  await expectError(server.post('/tokens', { name: 'x', role: 'member', user_id: '' }), 'VALIDATION_ERROR', { field: 'user_id' })
  await expectError(server.post('/tokens', { role: 'viewer' }), 'VALIDATION_ERROR', { field: 'name' })
  const { id } = await resources.token()
  await expectError(server.put(`/tokens/${id}`, { role: 'admin' }), 'VALIDATION_ERROR', { field: 'role' })
  await expectError(server.put(`/tokens/${id}`, { user_id: 'bob' }), 'VALIDATION_ERROR', { field: 'user_id' })
})

test('an expired token is rejected', async () => {
  const soon = createExpiry()
  const { token, expires_at } = await resources.token({ expires_at: soon })
  assert.is(expires_at, soon)
  assert.is((await server.get('/agents', { as: token })).status, 200)
  clock.advance(HOUR_MS)
  await expectError(server.get('/agents', { as: token }), 'UNAUTHENTICATED')
  for (const wrong of ['2020-01-01T00:00:00Z', 'tomorrow', '2099-13-01T00:00:00Z', '2099-12-31T23:59:60Z', 5])
    await expectError(server.post('/tokens', { name: 'x', role: 'viewer', expires_at: wrong }), 'VALIDATION_ERROR', {
      field: 'expires_at',
    })
  assert.is((await resources.token({ expires_at: '2099-01-01T01:00:00+01:00' })).expires_at, '2099-01-01T00:00:00.000Z')
})

test('a changed expiry takes effect immediately', async () => {
  const { id, token } = await resources.token()
  assert.is((await server.get('/agents', { as: token })).status, 200)
  await expectData(server.put(`/tokens/${id}`, { expires_at: createExpiry() }))
  clock.advance(HOUR_MS)
  await expectError(server.get('/agents', { as: token }), 'UNAUTHENTICATED')
  await expectData(server.put(`/tokens/${id}`, { expires_at: null }))
  assert.is((await server.get('/agents', { as: token })).status, 200)
})

test('a deleted token is rejected immediately', async () => {
  const { id, token } = await resources.token()
  assert.is((await server.get('/agents', { as: token })).status, 200)
  await expectData(server.delete(`/tokens/${id}`))
  await expectError(server.get('/agents', { as: token }), 'UNAUTHENTICATED')
})

const fileTest = isOnServer ? test.skip : test
fileTest('a deleted token is rejected even if the disk fails during the delete', async () => {
  const { id, token } = await resources.token()
  await expectData(server.get('/agents', { as: token }))
  disk.failure = new Error('the disk is on fire')
  assert.is((await server.delete(`/tokens/${id}`)).status, 500)
  disk.failure = undefined
  await expectError(server.get('/agents', { as: token }), 'UNAUTHENTICATED')
})

test('last_used_at is recorded with a precision of one minute', async () => {
  const { id, token } = await resources.token()
  await server.get('/agents', { as: token })
  // It is written asynchronously.
  const last_used_at = await waitFor(async () => ((await expectData(server.get(`/tokens/${id}`))).last_used_at as string) ?? undefined)
  assert.match(last_used_at, /:00\.000Z$/)
  assert.ok(Date.parse(last_used_at) <= clock.now())
})

test('a lookup that began before a token was deleted does not restore it', async () => {
  const { id, token } = await resources.token({ role: 'viewer' })
  const [hasRead, mayReturn] = [createDeferred<void>(), createDeferred<void>()]
  const { database } = server
  const all = async <T>(sql: string, values?: readonly Value[]): Promise<T[]> => {
    const rows = await database.all<T>(sql, values)
    hasRead.resolve()
    await mayReturn.promise
    return rows
  }
  const service = new TokensService({ database: { ...database, all }, cluster: createSingleDaemon(database), clock })
  const lookup = service.authenticator.authenticate(token)
  await hasRead.promise
  await service.remove({ caller: { tokenId: 'tok_admin', role: 'admin', userId: null } }, id)
  mayReturn.resolve()
  await lookup
  assert.is(await service.authenticator.authenticate(token), undefined)
})

test('the last admin token without an expiry cannot be deleted or made to expire', async () => {
  const admins = (await expectData(server.get('/tokens?role=admin&limit=100'))) as Json[]
  const own = admins.find(({ name }) => name === 'admin')
  for (const { id } of admins) if (id !== own.id) await expectData(server.delete(`/tokens/${id}`))
  await expectError(server.delete(`/tokens/${own.id}`), 'CONFLICT', { error: /last admin/ })
  await expectError(server.delete(`/tokens/${own.id}?force=true`), 'CONFLICT')
  await expectError(server.put(`/tokens/${own.id}`, { expires_at: '2099-01-01T00:00:00Z' }), 'CONFLICT', { error: /last admin/ })
  const brief = await resources.token({ role: 'admin', expires_at: createExpiry() })
  await expectError(server.delete(`/tokens/${own.id}`), 'CONFLICT')
  await expectData(server.delete(`/tokens/${brief.id}`))
  const other = await resources.token({ role: 'admin' })
  await expectData(server.delete(`/tokens/${own.id}`))
  await expectError(server.get('/agents', { as: ADMIN_TOKEN }), 'UNAUTHENTICATED')
  assert.is((await server.get('/agents', { as: other.token })).status, 200)
})

test.run()
