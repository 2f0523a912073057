/** Checks of `cadre doctor` for damaged files of the home. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { getDaemonEntry } from '../../client/daemon.ts'
import type { Paths } from '../../config.ts'
import { type Check, fail, pass, warn } from './check.ts'

const TIMEOUT_MS = 600_000

/** Lets the daemon's program read the whole file, whether or not the daemon runs. Returns undefined before the first start. */
export async function checkDatabase({ database }: Paths, root: string): Promise<Check | undefined> {
  if (!existsSync(database)) return undefined
  const { file, nodeOptions } = getDaemonEntry(root)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, file, '--check-database'], { timeout: TIMEOUT_MS })
    const { error, hint } = JSON.parse(stdout) as { error?: string; hint?: string }
    return error === undefined ? pass('database', 'no damage found') : fail('database', error, hint)
  } catch (error) {
    return warn('database', `could not be checked: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`)
  }
}

/** The lock file is empty; the daemon cannot start with any other content. Returns undefined if it can. */
export function checkLock({ lock }: Paths): Check | undefined {
  if (!existsSync(lock)) return undefined
  const found = statSync(lock)
  if (found.isFile() && (found.size === 0 || readFileSync(lock).subarray(0, 16).equals(SQLITE_HEADER))) return undefined
  return fail('lock', `${lock} is damaged`, 'It contains no data. Delete it, then: cadre daemon start')
}

const SQLITE_HEADER = Buffer.from('SQLite format 3\0')
