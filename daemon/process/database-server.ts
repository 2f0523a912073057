/** Finds the libSQL server that the settings name, and its token. */
import { environmentOverrides, type Paths, parseDatabaseUrl, readSettings } from '../../src/config.ts'
import { DATABASE_TOKEN, KeychainError, readKeychain } from '../../src/keychain.ts'

/** Returns undefined if the records are in a file of the home. The flag comes first, then the environment, then config.json. */
export async function resolveDatabaseServer(
  paths: Paths,
  flag: string | undefined,
): Promise<{ url: string; token: string | undefined } | undefined> {
  const { databaseUrl, databaseToken } = environmentOverrides()
  const settings = readSettings(paths)
  const stored = settings['database-url']
  const url = flag ?? databaseUrl ?? (stored === undefined ? undefined : parseDatabaseUrl(stored, `database-url in ${paths.settings}`))
  if (url === undefined) return undefined
  return { url, token: databaseToken ?? settings['database-token'] ?? (await readStoredToken(paths)) }
}

async function readStoredToken(paths: Paths): Promise<string | undefined> {
  try {
    return await readKeychain(paths.home, DATABASE_TOKEN)
  } catch (error) {
    if (error instanceof KeychainError) return undefined // a server may need no token; if it does, it says so
    throw error
  }
}
