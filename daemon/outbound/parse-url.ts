/** Parses URLs that users configure. */
import { createValidationError } from '../../src/contract/errors.ts'

/** Headers that describe the connection and cannot be set by callers. */
export const CONNECTION_HEADERS: readonly string[] = [
  ...['host', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer', 'proxy-authorization', 'proxy-connection'],
  ...['content-length', 'transfer-encoding', 'accept-encoding'],
]

export function checkHeaderNames(headers: object): void {
  const refused = Object.keys(headers).find((name) => CONNECTION_HEADERS.includes(name.toLowerCase()))
  if (refused) throw createValidationError(`headers.${refused}`, 'is set by the HTTP client and cannot be changed')
}

/** Accepts http and https URLs without credentials. `instead` says where credentials go. */
export function parseHttpUrl(field: string, address: string, instead = 'Use the authentication fields instead.'): URL {
  let url: URL
  try {
    url = new URL(address)
  } catch (cause) {
    throw Object.assign(createValidationError(field, 'is not a valid URL'), { cause })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw createValidationError(field, 'must start with http:// or https://')
  if (url.username || url.password)
    throw createValidationError(field, 'must not contain a user name or password', `Credentials in a URL end up in logs. ${instead}`)
  return url
}
