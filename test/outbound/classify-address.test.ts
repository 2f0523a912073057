import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { classifyAddress } from '../../daemon/outbound/classify-address.ts'
import { FORBIDDEN, PRIVATE, PUBLIC } from './addresses-by-scope.ts'

const test = suite('address classification')

test('addresses are classified as private, forbidden or public', () => {
  for (const address of PRIVATE) assert.is(classifyAddress(address), 'private', address)
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

test.run()
