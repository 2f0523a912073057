/** Classifies IP addresses as public, private or forbidden. */
import ipaddr from 'ipaddr.js'
import { CadreError } from '../../src/contract/errors.ts'

export type AddressScope = 'public' | 'private' | 'forbidden'

/** Metadata services of cloud providers. */
const METADATA_ADDRESSES = ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']

/** Global unicast IPv6 addresses, and the special ranges within. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const NOT_GLOBAL = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) => ipaddr.IPv6.parseCIDR(range))
/** On IPv6-only networks, IPv4 hosts resolve to this prefix. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const BENCHMARK = ipaddr.IPv4.parseCIDR('198.18.0.0/15')

/** Accepts every spelling that a resolver or socket accepts. */
export function classifyAddress(address: string): AddressScope {
  const spelled = normalizeIPv6(address)
  if (!ipaddr.isValid(spelled)) return 'forbidden'
  const parsed = ipaddr.parse(spelled)
  return parsed instanceof ipaddr.IPv4 ? classifyIPv4(parsed) : classifyIPv6(parsed as ipaddr.IPv6)
}

/** ipaddr.js parses ::1.2.3.4 as ::ffff:1.2.3.4, which is a different address. */
function normalizeIPv6(address: string): string {
  if (!address.includes(':') || !address.includes('.')) return address
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : 'nothing'
}

function classifyIPv4(address: ipaddr.IPv4): AddressScope {
  if (METADATA_ADDRESSES.includes(address.toString())) return 'forbidden'
  const range = address.range()
  if (range === 'unicast') return 'public'
  if (range === 'loopback' || range === 'private' || range === 'carrierGradeNat') return 'private'
  // Proxies that answer names with stand-in addresses take them from here.
  return address.match(BENCHMARK) ? 'private' : 'forbidden'
}

function classifyIPv6(address: ipaddr.IPv6): AddressScope {
  if (address.zoneId || METADATA_ADDRESSES.includes(address.toString())) return 'forbidden'
  if (address.isIPv4MappedAddress()) return classifyIPv4(address.toIPv4Address())
  if (address.match(NAT64)) return classifyIPv4(new ipaddr.IPv4(address.toByteArray().slice(12)))
  const range = address.range()
  if (range === 'loopback' || range === 'uniqueLocal') return 'private'
  const isatap = address.parts[5] === 0x5efe && (address.parts[4] === 0 || address.parts[4] === 0x200)
  if (isatap || !address.match(GLOBAL_UNICAST) || NOT_GLOBAL.some((taken) => address.match(taken))) return 'forbidden'
  return 'public'
}

/** Host names lose their brackets, case and final dots: all of them are the same host. */
export const stripBrackets = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
    .replace(/\.+$/, '')
export const isIpLiteral = (host: string): boolean => ipaddr.isValid(stripBrackets(host))

/** Refuses names and literals that lead where they may not; what names resolve to is checked when they do. */
export function checkHost(host: string, allowPrivateNetwork: boolean): void {
  const plain = stripBrackets(host)
  if (plain === '') throw new CadreError('ADDRESS_BLOCKED', 'The address has no host.')
  if (isIpLiteral(plain)) checkAddress(plain, plain, allowPrivateNetwork)
  else if (!allowPrivateNetwork && /(^|\.)localhost(\.localdomain)?$/.test(plain))
    throw createBlockedError(`${plain} is this machine itself`, 'private')
}

/** Whether a host is this machine, its network or nowhere public, as far as its name tells. */
export function isPrivateHost(host: string): boolean {
  try {
    checkHost(host, false)
    return false
  } catch {
    return true // refused: that is the answer
  }
}

/** Refuses an address of `host`, literal or resolved. */
export function checkAddress(host: string, address: string, allowPrivateNetwork: boolean): void {
  const reach = classifyAddress(address)
  if (reach === 'public' || (reach === 'private' && allowPrivateNetwork)) return
  const what = host === address ? address : `${host} (${address})`
  throw createBlockedError(reach === 'private' ? `${what} is inside the private network` : `${what} is no public address`, reach)
}

function createBlockedError(what: string, reach: AddressScope): CadreError {
  const hint =
    reach === 'private' ? 'If it is meant to be reached, an admin can say so with allow_private_network.' : 'No setting opens it.'
  return new CadreError('ADDRESS_BLOCKED', `${what}; nothing was sent.`, { hint })
}
