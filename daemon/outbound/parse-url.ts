/** What callers may say of a request: an address of http or https without a password inside, and no headers of the connection itself. */
import { createValidationError } from '../../src/contract/errors.ts'

/** Headers that belong to the connection, not to the caller. */
export const CONNECTION_HEADERS: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-connection',
  'accept-encoding',
]

/** `instead` says where a login goes. */
export function parseHttpUrl(field: string, address: string, instead = 'Use the fields made for it.'): URL {
  let url: URL
  try {
    url = new URL(address)
  } catch (cause) {
    throw Object.assign(createValidationError(field, 'is not a valid address'), { cause })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw createValidationError(field, 'must begin with http:// or https://')
  if (url.username || url.password)
    throw createValidationError(field, 'must not hold a user name or password', `A login in an address ends up in logs. ${instead}`)
  return url
}
