import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { McpFixture } from '../mcp/mcp-fixture.ts'
import { startRecordingServer } from '../outbound/recording-server.ts'
import { McpToolsFixture } from './mcp-tools-fixture.ts'
import { type OAuthServer, startOAuthServer } from './servers/oauth-server.ts'

const test = suite('MCP servers over HTTP')
let fixture: McpToolsFixture
let web: OAuthServer
const REDIRECT = { redirect_uri: 'http://127.0.0.1:4321/callback' }

test.before(
  reportFailure(async () => {
    fixture = await McpToolsFixture.open()
    web = await startOAuthServer()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), web.close()])))
test.after.each(() => {
  web.answer = undefined
  web.results = {}
  web.metadata = {}
  web.sendsEvents = false
})

const addUrl = (fields: object = {}) =>
  fixture.addServer('', { command: null, args: [], url: `${web.origin}/mcp`, allow_private_network: true, timeout_ms: 300_000, ...fields })
const bearer = { auth: { type: 'bearer', token: 'static-token-0123456789' } }

/** Opens the authorization URL as a browser would, and returns the parameters of the redirect. */
async function openBrowser(address: string): Promise<{ code: string; state: string }> {
  const { headers } = await fetch(address, { redirect: 'manual' })
  const { searchParams, origin } = new URL(headers.get('location') ?? '')
  assert.is(origin, 'http://127.0.0.1:4321')
  return { code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '' }
}

test('a server with a token is used, and without it the error says what is missing', async () => {
  const server = await addUrl(bearer)
  const [greet] = await fixture.approve(server, 'greet')
  assert.is((await expectData(fixture.call(greet as string))).result, 'Hello!')
  const stranger = await addUrl()
  await expectError(fixture.discover(stranger.id), 'PROVIDER_ERROR', {
    error: /refused the credentials \(HTTP 401\)\.$/,
    hint: /tools login/,
  })
})

test('an address in the private network is blocked unless an admin allows it', async () => {
  const server = await addUrl({ ...bearer, allow_private_network: false })
  await expectError(fixture.discover(server.id), 'ADDRESS_BLOCKED')
})

test('signing in with OAuth stores sealed tokens, which are refreshed', async () => {
  const server = await addUrl({ auth: { type: 'oauth' } })
  await expectError(fixture.discover(server.id), 'UNAVAILABLE', {
    error: /requires a sign-in\.$/,
    hint: new RegExp(`cadre tools login ${server.name}`),
  })
  const authorize = () => fixture.service.post(`/mcp-servers/${server.id}/authorize`, REDIRECT)
  const finish = (body: object) => fixture.service.post(`/mcp-servers/${server.id}/token`, body)
  const { authorization_url, state } = await expectData(authorize())
  const redirect = await openBrowser(authorization_url)
  assert.is(redirect.state, state)
  await expectError(finish({ ...redirect, state: 'another' }), 'VALIDATION_ERROR', { field: 'state' })
  await expectData(finish(redirect))
  await expectError(finish(redirect), 'VALIDATION_ERROR', { field: 'state' })
  const [greet] = await fixture.approve(server, 'greet')
  assert.is((await expectData(fixture.call(greet as string))).result, 'Hello!')
  const [row] = await fixture.service.database.all<{ oauth: string }>('SELECT oauth FROM mcp_servers WHERE id = ?', [server.id])
  assert.not.match(row?.oauth ?? '', /access|refresh|client-1/)
  web.accepted.delete('access-0123456789-1')
  assert.is((await expectData(fixture.call(greet as string))).result, 'Hello!')
  assert.ok(web.accepted.has('access-0123456789-2'))
  await expectData(fixture.service.put(`/mcp-servers/${server.id}`, { url: `${web.origin}/mcp?other`, auth: { type: 'oauth' } }))
  await expectError(fixture.discover(server.id), 'UNAVAILABLE', { error: /requires a sign-in/ })
})

test('a sign-in can end on another daemon than the one on which it began, and after a restart', async () => {
  const server = await addUrl({ auth: { type: 'oauth' } })
  const { authorization_url } = await expectData(fixture.service.post(`/mcp-servers/${server.id}/authorize`, REDIRECT))
  const [stored] = await fixture.service.database.all<{ session: string }>('SELECT session FROM oauth_sign_ins')
  assert.not.match(stored?.session ?? '', /verifier|client/)
  fixture = await McpToolsFixture.open({ home: await fixture.service.stop() })
  await expectData(fixture.service.post(`/mcp-servers/${server.id}/token`, await openBrowser(authorization_url)))
  assert.equal(await fixture.service.database.all('SELECT * FROM oauth_sign_ins'), [])
  await fixture.approve(server, 'greet')
})

test('only servers with OAuth are signed in to, and only with a loopback redirect', async () => {
  const server = await addUrl(bearer)
  await expectError(fixture.service.post(`/mcp-servers/${server.id}/authorize`, REDIRECT), 'CONFLICT', { error: /does not use OAuth/ })
  const elsewhere = { redirect_uri: 'https://evil.example/callback' }
  await expectError(fixture.service.post(`/mcp-servers/${server.id}/authorize`, elsewhere), 'VALIDATION_ERROR', { field: 'redirect_uri' })
})

test('metadata that points to a forbidden address is not followed', async () => {
  const victim = await startRecordingServer()
  // An address of this machine that stays blocked when private addresses are allowed.
  const forbidden = `http://0.0.0.0:${victim.port}`
  const signIn = async (): Promise<{ status: number; body: Json }> => {
    const server = await addUrl({ auth: { type: 'oauth' } })
    const begun = await fixture.service.post(`/mcp-servers/${server.id}/authorize`, REDIRECT)
    if (begun.status !== 200) return begun
    return fixture.service.post(`/mcp-servers/${server.id}/token`, await openBrowser(begun.data.authorization_url))
  }
  for (const metadata of [
    { authorization_servers: [forbidden] },
    { authorization_servers: ['http://169.254.169.254/latest'] },
    { registration_endpoint: `${forbidden}/register` },
    { token_endpoint: `${forbidden}/token` },
  ]) {
    web.metadata = metadata
    const { status, body } = await signIn()
    assert.ok(status >= 400, JSON.stringify(metadata))
    assert.match(body.error, /address|not sent|refusing to send credentials/i, JSON.stringify([metadata, body.error]))
  }
  assert.is(victim.connections, 0)
  web.metadata = {}
  assert.is((await signIn()).status, 200)
  await victim.close()
})

test('metadata with too many values is refused, also if it is sent as events', async () => {
  for (const sendsEvents of [false, true]) {
    Object.assign(web, { sendsEvents, metadata: { scopes_supported: Array(30_001).fill('a') } })
    const server = await addUrl({ auth: { type: 'oauth' } })
    const { status, body } = await fixture.service.post(`/mcp-servers/${server.id}/authorize`, REDIRECT)
    assert.ok(status >= 500, `${status}`)
    assert.match(body.error, /sent a message with more than 30000 values/)
  }
})

const HOSTILE: Record<string, { answer: NonNullable<OAuthServer['answer']>; error: RegExp; fields?: object }> = {
  'never answers': { answer: () => {}, error: /did not respond/, fields: { timeout_ms: 1_000 } },
  'redirects to another server': {
    answer: (_, response) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
    error: /redirect/i,
  },
  'answers without an end': {
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const part = Buffer.alloc(1024 * 1024, ' ')
      const write = () => {
        while (!response.destroyed && response.write(part));
        response.once('drain', write)
      }
      write()
    },
    error: /sent a message of more than 4 MB/,
  },
  'answers with too many values': {
    answer: (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(`[${'1,'.repeat(30_000)}1]`),
    error: /sent a message with more than 30000 values/,
  },
  'answers with too many values, between empty lines': {
    answer: (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json; a="text/event-stream"' })
        .end(`[${'1,'.repeat(20_000)}\n\n${'1,'.repeat(20_000)}1]`),
    error: /sent a message with more than 30000 values/,
  },
  'answers with a page': {
    answer: (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
    error: /could not be used/,
  },
  'answers with an error': { answer: (_, response) => void response.writeHead(500).end('\u001b[31mno'), error: /could not be used/ },
}
for (const [behaviour, { answer, error, fields }] of Object.entries(HOSTILE))
  test(`a server that ${behaviour} causes a clear error`, async () => {
    const server = await addUrl({ ...bearer, ...fields })
    web.answer = answer
    const { status, body } = await fixture.discover(server.id)
    assert.ok(status >= 500 && status !== 500, `${status} ${body.error}`)
    assert.match(body.error, error)
    assert.not.match(body.error, /\p{Control}/u)
    assert.is((await fixture.service.get('/health')).status, 200)
  })

test('a result with too many invalid blocks is refused before they are described', async () => {
  const server = await addUrl(bearer)
  const [greet] = await fixture.approve(server, 'greet')
  web.results = { 'tools/call': { content: Array(14_500).fill({ type: 'text' }) } }
  await expectError(fixture.call(greet as string), 'UNAVAILABLE', { error: /sent a message with more than 2000 elements of lists/ })
})

test('Cadre itself is used as a server of the newest revision', async () => {
  const other = await McpFixture.open()
  const token = await other.service.token('viewer')
  const server = await addUrl({ url: `${other.url}/mcp`, auth: { type: 'bearer', token } })
  const discovery = await expectData(fixture.discover(server.id))
  assert.is(discovery.server.protocol_version, '2026-07-28')
  assert.ok(discovery.tools.some(({ tool, state }: Json) => tool === 'list_sources' && state === 'new'))
  const [list] = await fixture.approve(server, 'list_sources')
  await expectData(fixture.call(list as string))
  await other.service.close()
})

test.run()
