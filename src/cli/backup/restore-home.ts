/** Restores a backup into an empty home. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BackupManifest, DATABASE_NAME } from '../../backup/format.ts'
import { ensureDirectory, type Paths } from '../../config.ts'
import { ADMIN_TOKEN, readKeychain, VAULT_KEY, writeKeychain } from '../../keychain.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { verifyBackup } from './verify-backup.ts'

/** Files of a restore that was interrupted. */
const DRAFT_PREFIX = '.restore-'

/** Throws if the home contains anything. */
export function requireEmptyHome({ home }: Paths): void {
  const names = existsSync(home) ? readdirSync(home).filter((name) => !name.startsWith(DRAFT_PREFIX)) : []
  if (names.length > 0)
    throw new UsageError(
      `The home ${home} is not empty.`,
      'A backup is restored into an empty home: set CADRE_HOME to a new directory, or move this one away.',
    )
}

/** The home stays empty until the whole backup was read and checked. */
export async function restoreHome(
  path: string,
  paths: Paths,
  report: (bytes: number, totalBytes: number) => void,
): Promise<BackupManifest> {
  const { home } = paths
  ensureDirectory(home)
  for (const name of await readdir(home)) if (name.startsWith(DRAFT_PREFIX)) await rm(join(home, name), { recursive: true })
  const draft = join(home, `${DRAFT_PREFIX}${process.pid}`)
  await mkdir(draft, { mode: 0o700 })
  try {
    const manifest = await verifyBackup(path, { folder: draft, report })
    // The database comes last: the daemon does not start with documents and without a database.
    const names = (await readdir(draft)).sort((a, b) => Number(a === DATABASE_NAME) - Number(b === DATABASE_NAME))
    for (const name of names) await rename(join(draft, name), join(home, name))
    return manifest
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Copies the keychain entries of the old home. Returns advice if they are missing, as on another machine. */
export async function restoreKeys({ home: oldHome }: BackupManifest, paths: Paths): Promise<string | undefined> {
  if (!usesKeychain(paths)) return undefined
  try {
    const [key, token] = [await readKeychain(oldHome, VAULT_KEY), await readKeychain(oldHome, ADMIN_TOKEN)]
    if (token !== undefined && !existsSync(paths.token)) await writeKeychain(paths.home, ADMIN_TOKEN, token)
    if (key !== undefined) {
      await writeKeychain(paths.home, VAULT_KEY, key)
      return token === undefined ? 'To create a token for this machine: cadre tokens recover' : undefined
    }
  } catch (error) {
    return `${(error as Error).message} ${LOST_KEY}`
  }
  return LOST_KEY
}

const LOST_KEY =
  'The key of the secrets is in the keychain of the machine that was backed up, so API keys and other secrets cannot be read. ' +
  'Delete vault.json in the home and set them again. To create a token for this machine: cadre tokens recover'

function usesKeychain({ vault }: Paths): boolean {
  return existsSync(vault) && (JSON.parse(readFileSync(vault, 'utf8')) as { location?: string }).location === 'keychain'
}
