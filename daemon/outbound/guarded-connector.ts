/** An undici connector that connects only to addresses that were checked. */
import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { CadreError } from '../../src/contract/errors.ts'
import { checkAddress, checkHost } from './check-address.ts'
import { isIpLiteral, stripBrackets } from './classify-address.ts'

interface ResolvedAddress {
  address: string
  family: number
}
export type Resolve = (host: string) => Promise<ResolvedAddress[]>

/** Resolves a host and throws ADDRESS_BLOCKED if any of its addresses is blocked. */
export async function resolveAllowedAddresses(resolve: Resolve, host: string, allowPrivateNetwork: boolean): Promise<ResolvedAddress[]> {
  checkHost(host, allowPrivateNetwork)
  const plain = stripBrackets(host)
  if (isIpLiteral(plain)) return [{ address: plain, family: plain.includes(':') ? 6 : 4 }]
  const addresses = await resolve(plain)
  if (addresses.length === 0) throw new CadreError('PROVIDER_ERROR', `Host not found: ${plain}.`)
  for (const { address } of addresses) checkAddress(plain, address, allowPrivateNetwork)
  return addresses
}

/**
 * The socket connects to the addresses that `lookup` returned, so a second DNS answer cannot bypass the check (DNS rebinding).
 * IP literals skip `lookup` and are checked before.
 */
export function createGuardedConnector(
  build: typeof buildConnector,
  resolve: Resolve,
  allowPrivateNetwork: boolean,
): buildConnector.connector {
  const lookup: LookupFunction = (host, options, callback) => {
    resolveAllowedAddresses(resolve, host, allowPrivateNetwork).then(
      (addresses) => {
        const [first] = addresses as [ResolvedAddress]
        if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
  const connect = build({ lookup, allowH2: false })
  return (options, callback) => {
    try {
      checkHost(options.hostname, allowPrivateNetwork)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      try {
        checkAddress(stripBrackets(options.hostname), socket.remoteAddress ?? '', allowPrivateNetwork)
      } catch (refusal) {
        socket.destroy()
        return callback(refusal as Error, null)
      }
      callback(null, socket)
    })
  }
}
