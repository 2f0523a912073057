/** Logins inside addresses, as in https://user:password@example.com/: anybody who reads the address has them. */

export interface UrlCredentials {
  username: string
  password: string
}

/** The address without its login, and that login; nothing where it has none. Only http and https have them. */
export function splitUrlCredentials(address: string): { address: string; login: UrlCredentials } | undefined {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.username === '' && url.password === '') return undefined
  const login = { username: decodePart(url.username), password: decodePart(url.password) }
  url.username = ''
  url.password = ''
  return { address: url.href, login }
}

/** As it may be shown. Of ssh only the password goes: the name says as whom. */
export function removeUrlCredentials(address: string): string {
  const plain = splitUrlCredentials(address)?.address
  if (plain !== undefined || !/^(ssh|git):/i.test(address) || !URL.canParse(address)) return plain ?? address
  const url = new URL(address)
  if (url.password === '') return address
  url.password = ''
  return url.href
}

/** The configuration of a source as it may be shown: one of an older version may have its login in the address while the vault is locked. */
export function removeRepositoryCredentials(configuration: Record<string, unknown>): Record<string, unknown> {
  const { repository } = configuration
  return typeof repository === 'string' ? { ...configuration, repository: removeUrlCredentials(repository) } : configuration
}

function decodePart(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped // a % that escapes nothing stands for itself
  }
}
