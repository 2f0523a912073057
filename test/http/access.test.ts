import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasAccess, ROLES, type Role, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type CallOptions, type Json, TestServer } from '../harness/test-server.ts'

const test = suite('access')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

/** Calls a route with placeholder parameters; only the access check matters. */
const callRoute = (route: Route, prefix: string, options: CallOptions) =>
  server.call(route.method, prefix + route.path.replaceAll(/\{\w+\}/g, 'nobody'), route.body ? {} : undefined, options)

/** A stream of GET without an identifier in its path never ends. */
const isEndless = ({ method, shape, params }: Route) => method === 'GET' && shape === 'events' && params === undefined

/** Opens a stream and returns its status. */
async function openStream(route: Route, prefix: string, role: Role): Promise<number> {
  const headers = { host: '127.0.0.1', authorization: `Bearer ${await server.token(role)}` }
  const reply = await server.app.server.inject({ method: 'GET', url: prefix + route.path, headers, payloadAsStream: true })
  reply.stream().destroy()
  return reply.statusCode
}

/** Routes of OpenAI have their own prefix and error format. */
const getPrefixes = ({ protocol }: Route) => (protocol === 'openai' ? [''] : ['/api', '/api/v1'])
const getCode = ({ body }: { body: Json }) => body.code ?? body.error?.code

for (const route of ALL_ROUTES) {
  for (const prefix of getPrefixes(route)) {
    const name = `${route.method} ${prefix}${route.path}`
    if (route.access === 'public') {
      test(`${name} requires no token`, async () => {
        for (const as of [null, 'wrong', ...ROLES]) assert.is((await callRoute(route, prefix, { as })).status, 200)
      })
      continue
    }
    test(`${name} rejects missing and invalid tokens`, async () => {
      const expired = await getExpiredToken()
      for (const as of [null, 'wrong', 'cadre_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', expired]) {
        const answer = await callRoute(route, prefix, { as })
        assert.is(answer.status, 401)
        assert.is(getCode(answer), route.protocol === 'openai' ? 'invalid_api_key' : 'UNAUTHENTICATED')
        assert.is(answer.headers['www-authenticate'], 'Bearer')
      }
    })
    for (const role of ROLES) {
      const isAllowed = hasAccess(role, route.access)
      test(`${name} is ${isAllowed ? 'allowed' : 'forbidden'} for ${role}`, async () => {
        if (isAllowed && isEndless(route)) return void assert.is(await openStream(route, prefix, role), 200)
        const { status, body } = await callRoute(route, prefix, { as: role })
        if (isAllowed) assert.not([401, 403].includes(status), `${status} ${JSON.stringify(body)}`)
        else assert.equal([status, getCode({ body })], [403, route.protocol === 'openai' ? 'insufficient_permissions' : 'FORBIDDEN'])
      })
    }
  }
}

let expired: string | undefined
async function getExpiredToken(): Promise<string> {
  if (expired) return expired
  const { id, token } = await resources.token({ role: 'admin', expires_at: '2099-01-01T00:00:00Z' })
  await server.database.write((transaction) =>
    transaction.run("UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", [id]),
  )
  expired = token as string
  return expired
}

const listAllowedRoutes = (role: Role) => ALL_ROUTES.filter(({ access }) => hasAccess(role, access))

test('only admins can access tokens and webhooks', () => {
  for (const role of ['editor', 'member', 'viewer'] as const)
    assert.equal(
      listAllowedRoutes(role).filter(({ family }) => ['tokens', 'webhooks'].includes(family)),
      [],
    )
})

test('a viewer has no write access', () => {
  const asks = [
    'prompt-templates.render',
    'tables.query',
    'rag-tools.query',
    'retrieval-tools.search',
    'memories.search',
    'openai.embeddings.create',
  ]
  assert.equal(
    listAllowedRoutes('viewer')
      .filter(({ method }) => method !== 'GET')
      .map(({ id }) => id),
    asks,
  )
})

test('a member can only read agents, attached documents and settings, and use conversations, completions and memories', () => {
  const reach = listAllowedRoutes('member').map(({ id }) => id.split('.')[0])
  assert.equal([...new Set(reach)].sort(), ['agents', 'conversations', 'documents', 'memories', 'messages', 'openai', 'settings'])
  assert.ok(!listAllowedRoutes('member').some(({ id }) => id === 'settings.update'))
  assert.equal(
    listAllowedRoutes('member')
      .filter(({ family }) => family === 'agents')
      .map(({ id }) => id),
    ['agents.list', 'agents.get'],
  )
  assert.equal(
    listAllowedRoutes('member')
      .filter(({ family }) => family === 'openai')
      .map(({ id }) => id),
    [
      'openai.models.list',
      'openai.models.get',
      'openai.chat-completions.create',
      'openai.responses.create',
      'openai.responses.get',
      'openai.responses.delete',
    ],
  )
})

test('an admin can call every route', () => {
  assert.is(listAllowedRoutes('admin').length, ALL_ROUTES.filter(({ access }) => access !== 'public').length)
})

test('only health, its probes and the OpenAPI document are public', () => {
  assert.equal(
    ALL_ROUTES.filter(({ access }) => access === 'public').map(({ path }) => path),
    ['/health', '/health/live', '/health/ready', '/openapi.json'],
  )
})

test('an unknown path returns 401 without a token and 404 with one', async () => {
  await expectError(server.get('/nothing', { as: null }), 'UNAUTHENTICATED')
  await expectError(server.get('/nothing'), 'NOT_FOUND')
})

test('a token is accepted only as bearer token in the Authorization header', async () => {
  const token = await server.token('admin')
  for (const authorization of [
    token,
    `Token ${token}`,
    `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    `Bearer`,
    'Bearer  ',
    `Bearer ${token} x`,
    `Bearer "${token}"`,
  ])
    await expectError(server.get('/agents', { as: null, headers: { authorization } }), 'UNAUTHENTICATED')
  await expectError(server.get(`/agents?access_token=${token}`, { as: null }), 'UNAUTHENTICATED')
  assert.is((await server.get('/agents', { as: null, headers: { authorization: `bearer   ${token}` } })).status, 200)
})

test('a request without a token gets a hint to the API reference, and a browser is redirected to it', async () => {
  for (const path of ['/', '/agents']) {
    const { body } = await server.get(path, { as: null, headers: { accept: '*/*' } })
    assert.match(body.hint, 'The API reference is at /docs.')
  }
  const led = await server.get('/', { as: null, headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.equal([led.status, led.headers.location], [302, '/docs'])
})

test('the API reference requires no token and loads only local files', async () => {
  const page = await server.get('/docs', { as: null })
  assert.is(page.status, 200)
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address))
  assert.ok(parts.some((part) => part.endsWith('.js')))
  for (const part of parts) {
    assert.not.match(part, /^(https?:)?\/\//)
    assert.is((await server.get(new URL(part, 'http://x/docs/').pathname, { as: null })).status, 200, part)
  }
})

test.run()
