/** Stores the first admin token where the CLI finds it, and reads it: in the keychain, or in a file in the home. */
import { readFileSync, rmSync } from 'node:fs'
import type { Paths } from '../../src/config.ts'
import { ADMIN_TOKEN } from '../../src/keychain.ts'
import { writeFileAtomically } from '../process/home.ts'
import type { Keychain, Vault } from './vault.ts'

interface TokenPlaces {
  paths: Paths
  keychain: Keychain
  vault: Vault
}

/** Stores it in the same place as the vault's key, which is known to work. */
export async function storeAdminToken(token: string, { paths, keychain, vault }: TokenPlaces): Promise<void> {
  if (vault.location === 'keychain' && (await tryKeychain(keychain, token))) {
    // The CLI reads the file first, so an old one would hide this token.
    rmSync(paths.token, { force: true })
    return
  }
  writeFileAtomically(paths.token, `${token}\n`)
}

/** Returns undefined if it is in neither place: only its rate limit depends on it. */
export async function readAdminToken({ paths, keychain, vault }: TokenPlaces): Promise<string | undefined> {
  try {
    return readFileSync(paths.token, 'utf8').trim()
  } catch {
    return vault.location === 'keychain' ? keychain.read(ADMIN_TOKEN).catch(() => undefined) : undefined
  }
}

async function tryKeychain(keychain: Keychain, token: string): Promise<boolean> {
  try {
    await keychain.write(ADMIN_TOKEN, token)
    return true
  } catch {
    return false // fall back to the file
  }
}
