/** The connecting end of the guard: a socket is opened to an address that was checked, and to no other. */
import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { CadreError } from '../../src/contract/errors.ts'
import { checkAddress, checkHost, isIpLiteral, stripBrackets } from './classify-address.ts'

export interface ResolvedAddress {
  address: string
  family: number
}
export type Resolve = (host: string) => Promise<ResolvedAddress[]>

/** Every address of a host, if all of them may be reached: one that may not spoils the name. */
export async function resolveAllowedAddresses(resolve: Resolve, host: string, allowPrivateNetwork: boolean): Promise<ResolvedAddress[]> {
  checkHost(host, allowPrivateNetwork)
  const plain = stripBrackets(host)
  if (isIpLiteral(plain)) return [{ address: plain, family: plain.includes(':') ? 6 : 4 }]
  const addresses = await resolve(plain)
  if (addresses.length === 0) throw new CadreError('PROVIDER_ERROR', `There is no host named ${plain}.`)
  for (const { address } of addresses) checkAddress(plain, address, allowPrivateNetwork)
  return addresses
}

/**
 * The socket asks `lookup` for the addresses it then connects to, so no second answer of the name server can slip in
 * between check and connection. Literals never get to `lookup` and are checked before.
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
