import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ACCESS, ROLES, type Role, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type CallOptions, TestServer } from '../harness/test-server.ts'

const test = suite('access')
let service: TestServer
let resources: Resources

test.before(
  aloud(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
  }),
)
test.after(aloud(() => service.close()))

/** A call that gets past the door or not; what lies behind it does not matter here. */
const knock = (route: Route, prefix: string, options: CallOptions) =>
  service.call(route.method, prefix + route.path.replaceAll(/\{\w+\}/g, 'nobody'), route.body ? {} : undefined, options)

/** A stream that nobody ends: what it is of needs no identifier, so there is always something to follow. */
const isEndless = ({ shape, params }: Route) => shape === 'events' && params === undefined

/** The status with which such a stream opens. */
async function opened(route: Route, prefix: string, role: Role): Promise<number> {
  const headers = { host: '127.0.0.1', authorization: `Bearer ${await service.token(role)}` }
  const reply = await service.app.server.inject({ method: 'GET', url: prefix + route.path, headers, payloadAsStream: true })
  reply.stream().destroy()
  return reply.statusCode
}

for (const prefix of ['/api', '/api/v1']) {
  for (const route of ALL_ROUTES) {
    const name = `${route.method} ${prefix}${route.path}`
    if (route.access === 'public') {
      test(`${name} needs no token`, async () => {
        for (const as of [null, 'wrong', ...ROLES]) assert.is((await knock(route, prefix, { as })).status, 200)
      })
      continue
    }
    test(`${name} is closed to those without a valid token`, async () => {
      const expired = await expiredToken()
      for (const as of [null, 'wrong', 'cadre_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', expired]) {
        const answer = await knock(route, prefix, { as })
        assert.is(answer.status, 401)
        assert.is(answer.body.code, 'UNAUTHENTICATED')
        assert.is(answer.headers['www-authenticate'], 'Bearer')
      }
    })
    for (const role of ROLES) {
      const may = (ACCESS[route.access] as readonly string[]).includes(role)
      test(`${name} is ${may ? 'open' : 'closed'} to ${role}`, async () => {
        if (may && isEndless(route)) return void assert.is(await opened(route, prefix, role), 200)
        const { status, body } = await knock(route, prefix, { as: role })
        if (may) assert.not([401, 403].includes(status), `${status} ${JSON.stringify(body)}`)
        else assert.equal([status, body.code], [403, 'FORBIDDEN'])
      })
    }
  }
}

let expired: string | undefined
async function expiredToken(): Promise<string> {
  if (expired) return expired
  const { id, token } = await resources.token({ role: 'admin', expires_at: '2099-01-01T00:00:00Z' })
  await service.database.write((transaction) =>
    transaction.run("UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", [id]),
  )
  expired = token as string
  return expired
}

const mayUse = (role: string) => ALL_ROUTES.filter(({ access }) => (ACCESS[access] as readonly string[]).includes(role))

test('only admins see tokens and webhooks', () => {
  for (const role of ['editor', 'member', 'viewer'])
    assert.equal(
      mayUse(role).filter(({ family }) => ['tokens', 'webhooks'].includes(family)),
      [],
    )
})

test('a viewer changes nothing', () => {
  const asks = ['prompt-templates.render', 'rag-tools.query', 'retrieval-tools.search']
  assert.equal(
    mayUse('viewer')
      .filter(({ method }) => method !== 'GET')
      .map(({ id }) => id),
    asks,
  )
})

test('a member reads agents, talks, and reaches nothing else', () => {
  const reach = mayUse('member').map(({ id }) => id.split('.')[0])
  assert.equal([...new Set(reach)].sort(), ['agents', 'conversations', 'messages'])
  assert.equal(
    mayUse('member')
      .filter(({ family }) => family === 'agents')
      .map(({ id }) => id),
    ['agents.list', 'agents.get'],
  )
})

test('an admin may do everything', () => {
  assert.is(mayUse('admin').length, ALL_ROUTES.filter(({ access }) => access !== 'public').length)
})

test('without a token nothing but health and the description of the API answers', () => {
  assert.equal(
    ALL_ROUTES.filter(({ access }) => access === 'public').map(({ path }) => path),
    ['/health', '/openapi.json'],
  )
})

test('a path that does not exist tells nothing to those without a token', async () => {
  await expectError(service.get('/nothing', { as: null }), 'UNAUTHENTICATED')
  await expectError(service.get('/nothing'), 'NOT_FOUND')
})

test('other ways to send a token are not taken', async () => {
  const token = await service.token('admin')
  for (const authorization of [
    token,
    `Token ${token}`,
    `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    `Bearer`,
    'Bearer  ',
    `Bearer ${token} x`,
    `Bearer "${token}"`,
  ])
    await expectError(service.get('/agents', { as: null, headers: { authorization } }), 'UNAUTHENTICATED')
  await expectError(service.get(`/agents?access_token=${token}`, { as: null }), 'UNAUTHENTICATED')
  assert.is((await service.get('/agents', { as: null, headers: { authorization: `bearer   ${token}` } })).status, 200)
})

test('who comes without a token learns where the reference is, and a browser is led there', async () => {
  for (const path of ['/', '/agents']) {
    const { body } = await service.get(path, { as: null, headers: { accept: '*/*' } })
    assert.match(body.hint, 'The API reference is at /docs.')
  }
  const led = await service.get('/', { as: null, headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.equal([led.status, led.headers.location], [302, '/docs'])
})

test('the reference page needs no token and nothing from the network', async () => {
  const page = await service.get('/docs', { as: null })
  assert.is(page.status, 200)
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address))
  assert.ok(parts.some((part) => part.endsWith('.js')))
  for (const part of parts) {
    assert.not.match(part, /^(https?:)?\/\//)
    assert.is((await service.get(new URL(part, 'http://x/docs/').pathname, { as: null })).status, 200, part)
  }
})

test.run()
