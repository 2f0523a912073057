import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider } from '../harness/scripted-provider.ts'
import { KnowledgeFixture } from '../knowledge/knowledge-fixture.ts'
import { BLOCKED_HOSTS, BLOCKED_NAMES, resolveBlockedName } from './blocked-addresses.ts'
import { CALLERS, CALLERS_WITHOUT_PERMISSION, callTool, createCallers, isBlocked, type OutboundCaller } from './callers.ts'
import { type RecordingServer, startRecordingServer } from './recording-server.ts'

/** Tests every feature that sends requests to configured addresses, through the REST API. */
const test = suite('callers of the outbound client')
let knowledge: KnowledgeFixture
let server: RecordingServer
let other: RecordingServer
let ipv6Server: RecordingServer | undefined
let provider: ScriptedProvider
let callers: Record<string, OutboundCaller>
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
    provider = await ScriptedProvider.start('openai', callTool)
    callers = await createCallers(knowledge, provider)
  }),
)
test.before.each(() => {
  server.requests.length = 0
  server.connections = other.connections = 0
})
test.after(
  reportFailure(async () => {
    await knowledge.close()
    await provider.close()
    for (const each of [server, other, ipv6Server]) await each?.close()
  }),
)

const countConnections = () => server.connections + other.connections + (ipv6Server?.connections ?? 0)

const call = (caller: string, url: string, isAllowed: boolean) => (callers[caller] as OutboundCaller)(url, isAllowed)

const ALL_CALLERS = [...CALLERS, ...CALLERS_WITHOUT_PERMISSION]
const HOSTS = [...BLOCKED_HOSTS, ...Object.keys(BLOCKED_NAMES)]

// All share the guard, which guard.test.ts tests with all spellings, and `npm run attack -- addresses` with all callers.
for (const [number, caller] of ALL_CALLERS.entries())
  test(`${caller} reaches no forbidden address, in its share of over 60 spellings`, async () => {
    assert.ok(HOSTS.length >= 60)
    for (const host of HOSTS.filter((_, index) => index % ALL_CALLERS.length === number)) {
      const url = `http://${host}:${host.startsWith('[::1') && ipv6Server ? ipv6Server.port : server.port}/`
      const outcome = await call(caller, url, false)
      assert.is(countConnections(), 0, `${host} was connected to`)
      assert.ok(isBlocked(outcome), `${host}: ${JSON.stringify(outcome)}`)
    }
  })

for (const caller of CALLERS) {
  test(`${caller} would reach them without the guard`, async () => {
    server.listener = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('reached')
    for (const host of ['127.1', '0x7f000001', 'localhost', 'plain.test', '[::ffff:127.0.0.1]'])
      assert.equal(await call(caller, `http://${host}:${server.port}/`, true), { reached: true }, host)
    assert.is(server.requests.length, 5)
  })

  test(`${caller} follows no redirect to a blocked address`, async () => {
    // Addresses of this machine that stay blocked when private addresses are allowed: without the guard each would reach the server.
    const hosts = ['0.0.0.0', '0', '0x0', '[::]', '[::ffff:0.0.0.0]', '[::7f00:1]', 'zero.test', 'compatible.test']
    for (const [index, host] of hosts.entries()) {
      const redirects = [1, 2, 4][index % 3] as number
      server.requests.length = 0
      server.listener = (_, response) => {
        const location = server.requests.length < redirects ? `/${server.requests.length}` : `http://${host}:${other.port}/`
        response.writeHead(302, { location }).end()
      }
      const follows = caller !== 'a webhook'
      assert.equal(
        await call(caller, `${server.origin}/`, true),
        follows ? { blocked: 'ADDRESS_BLOCKED' } : { reached: true },
        `${host} after ${redirects}`,
      )
      assert.equal([server.requests.length, other.connections], [follows ? redirects : 1, 0])
    }
  })

  test(`${caller} is protected against DNS rebinding`, async () => {
    server.listener = (_, response) => response.writeHead(200, { 'content-type': 'text/plain', connection: 'close' }).end('reached')
    rebindingAddresses = ['127.0.0.1', '0.0.0.0']
    // The connection goes to the checked address, whatever a second lookup would return.
    assert.equal(await call(caller, `http://rebind.test:${server.port}/a`, true), { reached: true })
    assert.equal([rebindingAddresses, server.connections], [['0.0.0.0'], 1])
    assert.equal(await call(caller, `http://rebind.test:${server.port}/b`, true), { blocked: 'ADDRESS_BLOCKED' })
    assert.equal([rebindingAddresses, server.connections], [[], 1])
  })
}

test.run()
