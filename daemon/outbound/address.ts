/** What an address must be before anything is sent to it: http or https, and no password inside. */
import { invalid } from '../../src/contract/errors.ts'

export function plainAddress(field: string, address: string): URL {
  let url: URL
  try {
    url = new URL(address)
  } catch (cause) {
    throw Object.assign(invalid(field, 'is not a valid address'), { cause })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(field, 'must begin with http:// or https://')
  if (url.username || url.password)
    throw invalid(field, 'must not hold a user name or password', 'Credentials in an address end up in logs; use the fields made for them.')
  return url
}
