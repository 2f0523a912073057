import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkAddress, checkHost, classifyAddress } from '../../daemon/outbound/classify-address.ts'
import { CadreError } from '../../src/contract/errors.ts'

const test = suite('address classification')

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
]
const PRIVATE_6 = [
  '::1',
  'fc00::1',
  'fd12:3456::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '0:0:0:0:0:0:0:1',
]
const FORBIDDEN = [
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.0.1',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    '192.0.0.8',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
  ],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
  ...['::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', 'fd00:ec2::254', 'fd00:ec2:0:0::254'],
  ...[
    '::ffff:169.254.169.254',
    '::ffff:0.0.0.0',
    '::ffff:0:127.0.0.1',
    '::127.0.0.1',
    '::7f00:1',
    '::a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '64:ff9b:1::7f00:1',
  ],
  ...[
    '2002:7f00:1::',
    '2002:0a00:0001::1',
    '2001:0:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    '2001:10::1',
    '2001:20::1',
    '3fff::1',
    '100::1',
    '5f00::1',
  ],
  ...['2a00:1450::5efe:7f00:1', '2a00:1450::200:5efe:7f00:1', 'not an address', '', '1.2.3.4.5', '::1%lo'],
]
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '2a00:1450:4001::1',
  '2606:4700::1111',
  '64:ff9b::808:808',
  '::ffff:8.8.8.8',
]

test('addresses are classified as private, forbidden or public', () => {
  for (const address of [...PRIVATE, ...PRIVATE_6]) assert.is(classifyAddress(address), 'private', address)
  for (const address of FORBIDDEN) assert.is(classifyAddress(address), 'forbidden', address)
  for (const address of PUBLIC) assert.is(classifyAddress(address), 'public', address)
})

test('an IPv6 spelling never has a wider scope than the IPv4 address it contains', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }), (bytes) => {
      const plain = classifyAddress(bytes.join('.'))
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
      const tail = `${hex.slice(0, 4)}:${hex.slice(4)}`
      assert.is(classifyAddress(`::ffff:${tail}`), plain)
      assert.is(classifyAddress(`64:ff9b::${tail}`), plain)
      for (const hiding of [`::${tail}`, `2002:${tail}::1`, `2001:0:${tail}::`, `64:ff9b:1::${tail}`, `::ffff:0:${tail}`])
        assert.is.not(classifyAddress(hiding), 'public', hiding)
    }),
  )
})

test('only unicast addresses are public', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      if (!ipaddr.isValid(address) || classifyAddress(address) !== 'public') return
      assert.ok(['unicast', 'ipv4Mapped', 'rfc6052'].includes(ipaddr.parse(address).range()), address)
    }),
    { numRuns: 2_000 },
  )
})

const catchRefusal = (work: () => void): CadreError => {
  try {
    work()
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('the address was allowed')
}

test('names of this machine are blocked in every spelling unless private addresses are allowed', () => {
  for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'localhost..', 'a.localhost', 'a.b.localhost.', 'localhost.localdomain']) {
    assert.is(catchRefusal(() => checkHost(host, false)).code, 'ADDRESS_BLOCKED', host)
    assert.not.throws(() => checkHost(host, true), host)
  }
  for (const host of ['localhost.example.com', 'mylocalhost', 'example.com']) assert.not.throws(() => checkHost(host, false), host)
})

test('private addresses can be allowed, metadata services cannot', () => {
  for (const address of [...PRIVATE, ...PRIVATE_6]) assert.not.throws(() => checkAddress(address, address, true), address)
  for (const address of FORBIDDEN) assert.is(catchRefusal(() => checkAddress(address, address, true)).code, 'ADDRESS_BLOCKED', address)
  assert.match(catchRefusal(() => checkAddress('h', '10.0.0.1', false)).hint ?? '', 'allow_private_network')
  assert.match(catchRefusal(() => checkAddress('h', '169.254.169.254', false)).hint ?? '', 'cannot be allowed')
})

test.run()
