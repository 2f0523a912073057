/** Requests in a redirect chain, and which headers and body each may carry. */
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { CONNECTION_HEADERS, parseHttpUrl } from './parse-url.ts'

export interface Hop {
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | undefined
}

/** Headers that are sent to another origin. Any other header may contain a secret. */
const SAFE_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent']

type HopRequest = { [Name in 'method' | 'headers' | 'body']?: Hop[Name] | undefined }

export function createFirstHop(address: string | URL, { method = 'GET', headers = {}, body }: HopRequest): Hop {
  const url = parseHttpUrl('url', String(address))
  const lower: Record<string, string> = { 'user-agent': 'Cadre' }
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  for (const name of Object.keys(lower))
    if (CONNECTION_HEADERS.includes(name)) throw createValidationError('headers', `${name} cannot be set`)
  url.hash = ''
  return { url, method: method.toUpperCase(), headers: lower, body }
}

/** Returns undefined if the response is not a redirect. */
export function createNextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  const url = resolveLocation(hop.url, location)
  const toGet = (status === 303 && hop.method !== 'HEAD') || ((status === 301 || status === 302) && hop.method === 'POST')
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (url.origin === hop.url.origin || SAFE_HEADERS.includes(name)) && !(toGet && name.startsWith('content-')),
  )
  return { url, method: toGet ? 'GET' : hop.method, headers: Object.fromEntries(kept), body: toGet ? undefined : hop.body }
}

function resolveLocation(from: URL, location: string): URL {
  let url: URL
  try {
    url = new URL(location, from)
  } catch (cause) {
    throw new CadreError('PROVIDER_ERROR', `${from.origin} redirects to an invalid URL.`, { cause })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new CadreError('ADDRESS_BLOCKED', `${from.origin} redirects to a ${url.protocol} URL. The redirect was not followed.`)
  if (url.username || url.password)
    throw new CadreError('ADDRESS_BLOCKED', `${from.origin} redirects to a URL with credentials. The redirect was not followed.`)
  url.hash = ''
  return url
}
