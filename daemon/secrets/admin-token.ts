/** Where the first token is left for the command line to find: the keychain where there is one, else a file of the home. */
import { rmSync } from 'node:fs'
import type { Paths } from '../../src/config.ts'
import { ADMIN_TOKEN } from '../../src/keychain.ts'
import { writeFileAtomically } from '../process/home.ts'
import type { Keychain, Vault } from './vault.ts'

/** In the same place as the vault's key, since that one has proven to work. */
export async function storeAdminToken(
  token: string,
  { paths, keychain, vault }: { paths: Paths; keychain: Keychain; vault: Vault },
): Promise<void> {
  if (vault.location === 'keychain' && (await tryKeychain(keychain, token))) {
    // The file is read first, so an older one would hide this token.
    rmSync(paths.token, { force: true })
    return
  }
  writeFileAtomically(paths.token, `${token}\n`)
}

async function tryKeychain(keychain: Keychain, token: string): Promise<boolean> {
  try {
    await keychain.write(ADMIN_TOKEN, token)
    return true
  } catch {
    return false // it answered a moment ago; a token in the file is better than a daemon nobody can talk to
  }
}
