import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createOutbound } from '../../daemon/outbound/client.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { BLOCKED_HOSTS, BLOCKED_NAMES, resolveBlockedName } from './blocked-addresses.ts'
import { type RecordingServer, startRecordingServer } from './recording-server.ts'

const test = suite<{ server: RecordingServer; ipv6Server: RecordingServer | undefined }>('outbound guard')

test.before.each(async (context) => {
  context.server = await startRecordingServer()
  // Undefined on machines without IPv6.
  context.ipv6Server = await startRecordingServer(undefined, '::1').catch(() => undefined)
})
test.after.each(async ({ server, ipv6Server }) => {
  await server.close()
  await ipv6Server?.close()
})

async function catchError(work: Promise<unknown>): Promise<CadreError> {
  try {
    await work
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('the request was sent')
}

test('over 60 spellings of forbidden addresses are blocked without connecting', async ({ server, ipv6Server }) => {
  const outbound = createOutbound({ resolve: resolveBlockedName })
  const hosts = [...BLOCKED_HOSTS, ...Object.keys(BLOCKED_NAMES)]
  assert.ok(hosts.length >= 60, String(hosts.length))
  for (const host of hosts) {
    for (const { port } of ipv6Server ? [server, ipv6Server] : [server]) {
      const error = await catchError(outbound.request(`http://${host}:${port}/`, { timeoutMs: 5_000 }))
      assert.ok(error.code === 'ADDRESS_BLOCKED' || error.code === 'VALIDATION_ERROR', `${host}: ${error.code}`)
    }
  }
  for (const name of Object.keys(BLOCKED_NAMES))
    assert.is((await catchError(outbound.request(`https://${name}:${server.port}/`))).code, 'ADDRESS_BLOCKED', name)
  assert.is(server.connections, 0)
  assert.is(ipv6Server?.connections ?? 0, 0)
  await outbound.close()
})

test('each of these spellings would connect without the guard', async ({ server }) => {
  const outbound = createOutbound({ resolve: resolveBlockedName })
  for (const host of ['127.1', '0x7f000001', 'localhost', 'plain.test', '[::ffff:127.0.0.1]'])
    assert.is((await outbound.request(`http://${host}:${server.port}/`, { allowPrivateNetwork: true })).status, 200, host)
  await outbound.close()
})

test('schemes other than http and https are rejected', async () => {
  const outbound = createOutbound({ resolve: resolveBlockedName })
  for (const address of [
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1/',
    'data:text/plain,x',
    'javascript:1',
    '//127.0.0.1/',
    'unix:/run/x.sock',
  ])
    assert.is((await catchError(outbound.request(address, { allowPrivateNetwork: true }))).code, 'VALIDATION_ERROR', address)
})

test('DNS rebinding fails: the checked address is the one connected to', async ({ server }) => {
  server.listener = (_, reply) => reply.setHeader('connection', 'close').end('reached')
  let lookups = 0
  // Both addresses lead to the server and only the first is allowed, so a second lookup between check and connection would be noticed.
  const outbound = createOutbound({ resolve: async () => [{ address: lookups++ % 2 === 0 ? '127.0.0.1' : '0.0.0.0', family: 4 }] })
  const request = () => outbound.request(`http://rebind.test:${server.port}/`, { allowPrivateNetwork: true })
  for (let round = 1; round <= 3; round++) {
    assert.is((await request()).status, 200)
    assert.is((await catchError(request())).code, 'ADDRESS_BLOCKED')
    assert.equal([lookups, server.connections], [round * 2, round])
  }
  await outbound.close()
})

test('a connection to a private address is not reused for requests without that permission', async ({ server }) => {
  const outbound = createOutbound({ resolve: resolveBlockedName })
  const address = `http://plain.test:${server.port}/`
  assert.is((await outbound.request(address, { allowPrivateNetwork: true })).status, 200)
  assert.is((await catchError(outbound.request(address))).code, 'ADDRESS_BLOCKED')
  assert.is(server.requests.length, 1)
  await outbound.close()
})

test('metadata services stay blocked when private addresses are allowed, by address and by name', async () => {
  const outbound = createOutbound({ resolve: async () => [{ address: '169.254.169.254', family: 4 }] })
  // The hosts are only resolved, never connected to.
  for (const host of ['169.254.169.254', '[fd00:ec2::254]', '168.63.129.16', '0xa9fea9fe', 'metadata.test']) {
    assert.is((await catchError(outbound.resolveAddresses(host, true))).code, 'ADDRESS_BLOCKED', host)
  }
})

test('resolveAddresses applies the same checks', async () => {
  const outbound = createOutbound({ resolve: resolveBlockedName })
  assert.is((await catchError(outbound.resolveAddresses('plain.test'))).code, 'ADDRESS_BLOCKED')
  assert.is((await catchError(outbound.resolveAddresses('::1'))).code, 'ADDRESS_BLOCKED')
  assert.equal(await outbound.resolveAddresses('plain.test', true), ['127.0.0.1'])
  assert.equal(await outbound.resolveAddresses('8.8.8.8'), ['8.8.8.8'])
})

test.run()
