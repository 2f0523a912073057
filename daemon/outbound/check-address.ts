/** Refuses requests to private and forbidden addresses with ADDRESS_BLOCKED. */
import { CadreError } from '../../src/contract/errors.ts'
import { type AddressScope, classifyAddress, isIpLiteral, stripBrackets } from './classify-address.ts'

/** Throws ADDRESS_BLOCKED for blocked names and IP literals. The addresses of other names are checked when they are resolved. */
export function checkHost(host: string, allowPrivateNetwork: boolean): void {
  const plain = stripBrackets(host)
  if (plain === '') throw new CadreError('ADDRESS_BLOCKED', 'The address has no host.')
  if (isIpLiteral(plain)) checkAddress(plain, plain, allowPrivateNetwork)
  else if (!allowPrivateNetwork && /(^|\.)localhost(\.localdomain)?$/.test(plain))
    throw createBlockedError(`${plain} is the daemon's own machine`, 'private')
}

/** Whether a host is not public, judging by its name alone. */
export function isPrivateHost(host: string): boolean {
  try {
    checkHost(host, false)
    return false
  } catch {
    return true
  }
}

/** Throws ADDRESS_BLOCKED if an address of `host` is blocked. */
export function checkAddress(host: string, address: string, allowPrivateNetwork: boolean): void {
  const reach = classifyAddress(address)
  if (reach === 'public' || (reach === 'private' && allowPrivateNetwork)) return
  const what = host === address ? address : `${host} (${address})`
  throw createBlockedError(reach === 'private' ? `${what} is in the private network` : `${what} is not a public address`, reach)
}

function createBlockedError(what: string, reach: AddressScope): CadreError {
  const hint =
    reach === 'private'
      ? 'To allow it, an admin can set allow_private_network (--allow-private-network in the CLI).'
      : 'This address cannot be allowed.'
  return new CadreError('ADDRESS_BLOCKED', `${what}; the request was not sent.`, { hint })
}
