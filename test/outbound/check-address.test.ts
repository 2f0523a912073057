import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkAddress, checkHost } from '../../daemon/outbound/check-address.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { FORBIDDEN, PRIVATE } from './addresses-by-scope.ts'

const test = suite('blocked addresses')

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
  for (const address of PRIVATE) assert.not.throws(() => checkAddress(address, address, true), address)
  for (const address of FORBIDDEN) assert.is(catchRefusal(() => checkAddress(address, address, true)).code, 'ADDRESS_BLOCKED', address)
  assert.match(catchRefusal(() => checkAddress('h', '10.0.0.1', false)).hint ?? '', 'allow_private_network')
  assert.match(catchRefusal(() => checkAddress('h', '169.254.169.254', false)).hint ?? '', 'cannot be allowed')
})

test.run()
