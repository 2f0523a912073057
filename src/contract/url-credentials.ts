/** Credentials in URLs, as in https://user:password@example.com/. */

export interface UrlCredentials {
  username: string
  password: string
}

/** Returns an http or https URL without its credentials, and the credentials; undefined if it has none. */
export function splitUrlCredentials(address: string): { address: string; login: UrlCredentials } | undefined {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.username === '' && url.password === '') return undefined
  const login = { username: decodePart(url.username), password: decodePart(url.password) }
  url.username = ''
  url.password = ''
  return { address: url.href, login }
}

/** Removes the credentials from a URL; from ssh and git URLs only the password. */
export function removeUrlCredentials(address: string): string {
  const plain = splitUrlCredentials(address)?.address
  if (plain !== undefined || !/^(ssh|git):/i.test(address) || !URL.canParse(address)) return plain ?? address
  const url = new URL(address)
  if (url.password === '') return address
  url.password = ''
  return url.href
}

/** Removes credentials from the repository URL of a source configuration. Sources of older versions have them while the vault is locked. */
export function removeRepositoryCredentials(configuration: Record<string, unknown>): Record<string, unknown> {
  const { repository } = configuration
  return typeof repository === 'string' ? { ...configuration, repository: removeUrlCredentials(repository) } : configuration
}

function decodePart(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped // not percent-encoded
  }
}
