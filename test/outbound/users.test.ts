import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge/knowledge-fixture.ts'
import { BLOCKED_HOSTS, BLOCKED_NAMES, resolveBlockedName } from './blocked-addresses.ts'
import { type RecordingServer, startRecordingServer } from './recording-server.ts'

/** Tests every feature that sends requests to configured addresses, through the REST API. */
const test = suite('callers of the outbound client')
let knowledge: KnowledgeFixture
let server: RecordingServer
let other: RecordingServer
let ipv6Server: RecordingServer | undefined
let tool: Json
let source: Json
let webhook: Json
/** Addresses of rebind.test, one per lookup. */
let rebindingAddresses: string[] = []

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start({
      resolve: async (host) =>
        host === 'rebind.test' ? [{ address: rebindingAddresses.shift() ?? '0.0.0.0', family: 4 }] : resolveBlockedName(host),
    })
    server = await startRecordingServer()
    other = await startRecordingServer()
    // Undefined on machines without IPv6.
    ipv6Server = await startRecordingServer(undefined, '::1').catch(() => undefined)
    tool = await knowledge.resources.apiTool()
    webhook = await knowledge.resources.webhook()
    source = await knowledge.createSource('url', { url: 'https://example.com/' })
  }),
)
test.before.each(() => {
  server.requests.length = 0
  server.connections = other.connections = 0
})
test.after(
  reportFailure(async () => {
    await knowledge.close()
    for (const each of [server, other, ipv6Server]) await each?.close()
  }),
)

type Outcome = { blocked: string } | { reached: true }
const isInvalidSetting = (status: number, body: Json): boolean => status === 400 && body.code === 'VALIDATION_ERROR'
const toOutcome = (problem: string | null): Outcome => (problem === null ? { reached: true } : { blocked: problem })

/** Each caller is configured with an address and made to call it. It is blocked at configuration or on connecting. */
const CALLERS: Record<string, (url: string, allowed: boolean) => Promise<Outcome>> = {
  'an API tool': async (url, allow_private_network) => {
    const changed = await knowledge.service.put(`/api-tools/${tool.id}`, { url, allow_private_network })
    if (isInvalidSetting(changed.status, changed.body)) return { blocked: changed.body.code }
    const { status, body } = await knowledge.service.post(`/api-tools/${tool.id}/test`, {})
    return toOutcome(status === 200 ? null : body.code)
  },
  'a URL source': async (url, allow_private_network) => {
    const changed = await knowledge.service.put(`/knowledge-sources/${source.id}`, { configuration: { url, allow_private_network } })
    if (isInvalidSetting(changed.status, changed.body)) return { blocked: changed.body.code }
    const { error, status } = await knowledge.sync(source.id)
    if (status === 'error') return { blocked: /request was not sent/.test(error) ? 'ADDRESS_BLOCKED' : error }
    return { reached: true }
  },
  'a webhook': async (url, allow_private_network) => {
    const changed = await knowledge.service.put(`/webhooks/${webhook.id}`, { url, allow_private_network })
    if (isInvalidSetting(changed.status, changed.body)) return { blocked: changed.body.code }
    const { status, body } = await knowledge.service.post(`/webhooks/${webhook.id}/test`, {})
    if (status >= 400) return { blocked: body.code }
    const { response_status, error } = body.data
    return response_status === null ? { blocked: /request was not sent/.test(error) ? 'ADDRESS_BLOCKED' : error } : { reached: true }
  },
  'the import of a document': async (url, allow_private_network) => {
    const { status, body } = await knowledge.service.post('/api-tools/import', { url, allow_private_network, dry_run: true })
    return toOutcome(status === 200 || body.error.includes('cannot be imported') ? null : body.code)
  },
}

const countConnections = () => server.connections + other.connections + (ipv6Server?.connections ?? 0)

for (const [caller, call] of Object.entries(CALLERS))
  test(`${caller} reaches none of over 60 spellings of forbidden addresses`, async () => {
    const hosts = [...BLOCKED_HOSTS, ...Object.keys(BLOCKED_NAMES)]
    assert.ok(hosts.length >= 60)
    for (const host of hosts) {
      const url = `http://${host}:${host.startsWith('[::1') && ipv6Server ? ipv6Server.port : server.port}/`
      const outcome = await call(url, false)
      assert.is(countConnections(), 0, `${host} was connected to`)
      assert.ok(
        'blocked' in outcome && /ADDRESS_BLOCKED|VALIDATION_ERROR|request was not sent/.test(outcome.blocked),
        `${host}: ${JSON.stringify(outcome)}`,
      )
    }
  })

for (const [caller, call] of Object.entries(CALLERS)) {
  test(`${caller} would reach them without the guard`, async () => {
    server.listener = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('reached')
    for (const host of ['127.1', '0x7f000001', 'localhost', 'plain.test', '[::ffff:127.0.0.1]'])
      assert.equal(await call(`http://${host}:${server.port}/`, true), { reached: true }, host)
    assert.is(server.requests.length, 5)
  })

  test(`${caller} follows no redirect to a blocked address`, async () => {
    // Addresses of this machine that stay blocked when private addresses are allowed: without the guard each would reach the server.
    for (const host of ['0.0.0.0', '0', '0x0', '[::]', '[::ffff:0.0.0.0]', '[::7f00:1]', 'zero.test', 'compatible.test']) {
      for (const redirects of [1, 2, 4]) {
        server.requests.length = 0
        server.listener = (_, response) => {
          const location = server.requests.length < redirects ? `/${server.requests.length}` : `http://${host}:${other.port}/`
          response.writeHead(302, { location }).end()
        }
        const follows = caller !== 'a webhook'
        assert.equal(
          await call(`${server.origin}/`, true),
          follows ? { blocked: 'ADDRESS_BLOCKED' } : { reached: true },
          `${host} after ${redirects}`,
        )
        assert.equal([server.requests.length, other.connections], [follows ? redirects : 1, 0])
      }
    }
  })

  test(`${caller} is protected against DNS rebinding`, async () => {
    server.listener = (_, response) => response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' }).end('reached')
    rebindingAddresses = ['127.0.0.1', '0.0.0.0']
    // The connection goes to the checked address, whatever a second lookup would return.
    assert.equal(await call(`http://rebind.test:${server.port}/a`, true), { reached: true })
    assert.equal([rebindingAddresses, server.connections], [['0.0.0.0'], 1])
    assert.equal(await call(`http://rebind.test:${server.port}/b`, true), { blocked: 'ADDRESS_BLOCKED' })
    assert.equal([rebindingAddresses, server.connections], [[], 1])
  })
}

test.run()
