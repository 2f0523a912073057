/** Measures and deletes the data of a home. */
import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { deleteProfile, readProfiles } from '../../client/profiles.ts'
import type { Paths } from '../../config.ts'
import { ADMIN_TOKEN, deleteKeychain, KeychainError, readKeychain, VAULT_KEY } from '../../keychain.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

const KEYCHAIN_ENTRIES = { [ADMIN_TOKEN]: 'the admin token', [VAULT_KEY]: 'the key of the secrets' }

/** Throws unless a daemon has used the folder: names such as documents are common, and a daemon refuses folders of other programs. */
export function requireHome({ home, database, vault }: Paths): void {
  if (!existsSync(database) || !existsSync(vault))
    throw new UsageError(`${home} has no database of a daemon, so it may be a folder of another program.`, 'Check CADRE_HOME.')
}

/** Returns the size of all files, in bytes. Links are not followed. */
export function measureHome(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name)
    return sum + (entry.isDirectory() ? measureHome(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0))
  }, 0)
}

/** Lists entries that Cadre did not create, such as files of a user who chose a folder with other files as home. */
export function listForeignEntries(paths: Paths): string[] {
  const own = new Set(Object.values(paths).map((path) => basename(path)))
  const isOwn = (name: string) => own.has(name) || /^(cadre\.db-|starting$|\.probe-|\w+\.json\.\d+\.new$)/.test(name)
  try {
    return readdirSync(paths.home).filter((name) => !isOwn(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Deletes what Cadre created, and the folder if nothing else is in it. The keychain is first: its entries are found by the home. */
export async function deleteHome(paths: Paths, notify: (line: string) => void): Promise<void> {
  for (const name of Object.keys(readProfiles(paths).profiles)) await deleteProfile(paths, name, notify)
  for (const name of Object.keys(KEYCHAIN_ENTRIES)) await deleteKeychain(paths.home, name).catch(ignoreMissingKeychain)
  const foreign = new Set(listForeignEntries(paths))
  for (const name of readdirSync(paths.home)) if (!foreign.has(name)) rmSync(join(paths.home, name), { recursive: true, force: true })
  if (foreign.size === 0) rmdirSync(paths.home)
}

/** Lists the secrets of the home that are in the keychain. */
export async function listKeychainEntries({ home }: Paths): Promise<string[]> {
  const found: string[] = []
  for (const [name, label] of Object.entries(KEYCHAIN_ENTRIES))
    if ((await readKeychain(home, name).catch(ignoreMissingKeychain)) !== undefined) found.push(label)
  return found
}

/** Without a keychain, the secrets are in the home. */
function ignoreMissingKeychain(error: unknown): undefined {
  if (error instanceof KeychainError) return undefined
  throw error
}
