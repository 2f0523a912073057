import { hostname } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HostGuard } from '../../daemon/http/host-guard.ts'
import { expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('host guard')
let service: TestServer

test.before(
  aloud(async () => {
    service = await TestServer.start()
    service.app.listening('http://127.0.0.1:7411')
  }),
)
test.after(aloud(() => service.close()))

const health = (headers: Record<string, string>) => service.get('/health', { as: null, headers })

test('the address it listens at is answered by each of its names', async () => {
  for (const host of ['127.0.0.1:7411', 'localhost:7411', 'LOCALHOST:7411', '[::1]:7411'])
    assert.is((await health({ host })).status, 200, host)
})

test('a name that a web page made point here is turned away, even without a token', async () => {
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

test('another port is another server', async () => {
  for (const host of ['127.0.0.1', '127.0.0.1:80', '127.0.0.1:7412', '127.0.0.1:07411', 'localhost:74110', '[::1]'])
    await expectError(health({ host }), 'FORBIDDEN')
})

test('a Host that is no host is turned away', async () => {
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

test('a request without an Origin is answered, and so is the page of this very server', async () => {
  assert.is((await health({ host: '127.0.0.1:7411' })).status, 200)
  assert.is((await health({ host: 'localhost:7411', origin: 'http://localhost:7411' })).status, 200)
})

test('a page of any other origin is turned away', async () => {
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

test('the door is closed to foreign hosts before a token is looked at', async () => {
  await expectError(service.get('/agents', { headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(service.get('/agents', { as: 'wrong', headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(service.get('/nothing', { as: null, headers: { host: 'evil.example' } }), 'FORBIDDEN')
  await expectError(
    service
      .call('OPTIONS', '/agents', undefined, { as: null, headers: { host: '127.0.0.1:7411', origin: 'https://evil.example' } })
      .then((answer) => ({ ...answer, body: JSON.parse(answer.text) })),
    'FORBIDDEN',
  )
})

test('no answer invites another origin in', async () => {
  for (const path of ['/health', '/agents', '/nothing']) {
    const { headers } = await service.get(path, { headers: { host: '127.0.0.1:7411' } })
    assert.equal(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

test('beyond loopback, literal addresses and the name of this machine are answered and no other name', () => {
  const guard = new HostGuard()
  guard.setAddress('http://0.0.0.0:7411')
  const opens = (host: string) => assert.not.throws(() => guard.check(host, undefined), undefined, host)
  const closed = (host: string | undefined) => assert.throws(() => guard.check(host, undefined), /Host header/, String(host))
  for (const host of ['192.168.1.7:7411', '[fe80::1]:7411', '127.0.0.1:7411', 'localhost:7411', `${hostname()}:7411`]) opens(host)
  for (const host of ['evil.example:7411', '192.168.1.7:7412', '192.168.1.7.nip.io:7411', undefined]) closed(host)
})

test('at port 80 the port may be left out', () => {
  const guard = new HostGuard()
  guard.setAddress('http://127.0.0.1:80')
  assert.not.throws(() => guard.check('127.0.0.1', 'http://127.0.0.1'))
  assert.not.throws(() => guard.check('127.0.0.1:80', undefined))
})

test.run()
