/** Classifies IP addresses as public, private or forbidden. */
import ipaddr from 'ipaddr.js'

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
  // Some local proxies resolve every name to an address in this range.
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

/** Normalizes a host name: no brackets, lower case, no trailing dots. */
export const stripBrackets = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
    .replace(/\.+$/, '')
export const isIpLiteral = (host: string): boolean => ipaddr.isValid(stripBrackets(host))
