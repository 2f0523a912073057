import { hostname } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HostGuard } from '../../daemon/http/host-guard.ts'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('host guard')
let server: TestServer

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    server.app.listening('http://127.0.0.1:7411')
  }),
)
test.after(reportFailure(() => server.close()))

const health = (headers: Record<string, string>) => server.get('/health', { as: null, headers })

test('every name of the loopback address is accepted as Host', async () => {
  for (const host of ['127.0.0.1:7411', 'localhost:7411', 'LOCALHOST:7411', '[::1]:7411'])
    assert.is((await health({ host })).status, 200, host)
})

test('a Host that resolves to this machine by DNS rebinding is rejected', async () => {
  for (const host of [
    'evil.example',
    'evil.example:7411',
    '127.0.0.1.nip.io:7411',
    'localhost.evil.example:7411',
    'localhost.:7411',
    'evil.localhost:7411',
    '0.0.0.0:7411',
    '127.0.0.2:7411',
    '[::]:7411',
    '[::ffff:127.0.0.1]:7411',
    '2130706433:7411',
    '0x7f000001:7411',
  ])
    await expectError(health({ host }), 'FORBIDDEN', { error: /Host header/ })
})

test('a Host with another port is rejected', async () => {
  for (const host of ['127.0.0.1', '127.0.0.1:80', '127.0.0.1:7412', '127.0.0.1:07411', 'localhost:74110', '[::1]'])
    await expectError(health({ host }), 'FORBIDDEN')
})

test('a malformed Host is rejected', async () => {
  for (const host of [
    '',
    ' ',
    '127.0.0.1:7411@evil.example',
    'user@127.0.0.1:7411',
    '127.0.0.1:7411/x',
    '[::1:7411',
    '127.0.0.1:7411, evil.example',
    'http://127.0.0.1:7411',
  ])
    await expectError(health({ host }), 'FORBIDDEN')
})

test('requests without Origin and from the same origin are accepted', async () => {
  assert.is((await health({ host: '127.0.0.1:7411' })).status, 200)
  assert.is((await health({ host: 'localhost:7411', origin: 'http://localhost:7411' })).status, 200)
})

test('requests from another origin are rejected', async () => {
  for (const origin of [
    'null',
    'https://evil.example',
    'http://evil.example:7411',
    'http://127.0.0.1',
    'http://127.0.0.1:7412',
    'https://127.0.0.1:7411',
    'http://localhost:7411',
    '',
    'file://',
  ])
    await expectError(health({ host: '127.0.0.1:7411', origin }), 'FORBIDDEN', { error: /origins/ })
})

test('the Host is checked before the token', async () => {
  await expectError(server.get('/agents', { headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(server.get('/agents', { as: 'wrong', headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(server.get('/nothing', { as: null, headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(
    server
      .call('OPTIONS', '/agents', undefined, { as: null, headers: { host: '127.0.0.1:7411', origin: 'https://evil.example' } })
      .then((answer) => ({ ...answer, body: JSON.parse(answer.text) })),
    'FORBIDDEN',
  )
})

test('no response has CORS headers', async () => {
  for (const path of ['/health', '/agents', '/nothing']) {
    const { headers } = await server.get(path, { headers: { host: '127.0.0.1:7411' } })
    assert.equal(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

test('a daemon that is not on loopback accepts IP addresses and the machine name as Host', () => {
  const guard = new HostGuard()
  guard.setAddress('http://0.0.0.0:7411')
  const opens = (host: string) => assert.not.throws(() => guard.check(host, undefined), undefined, host)
  const closed = (host: string | undefined) => assert.throws(() => guard.check(host, undefined), /Host header/, String(host))
  for (const host of ['192.168.1.7:7411', '[fe80::1]:7411', '127.0.0.1:7411', 'localhost:7411', `${hostname()}:7411`]) opens(host)
  for (const host of ['evil.example:7411', '192.168.1.7:7412', '192.168.1.7.nip.io:7411', undefined]) closed(host)
})

test('the port can be omitted for port 80', () => {
  const guard = new HostGuard()
  guard.setAddress('http://127.0.0.1:80')
  assert.not.throws(() => guard.check('127.0.0.1', 'http://127.0.0.1'))
  assert.not.throws(() => guard.check('127.0.0.1:80', undefined))
})

test.run()
