/** Checks of `cadre doctor` for damaged files of the home. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { getDaemonEntry } from '../../client/start-daemon.ts'
import { environmentOverrides, type Paths, readSettings } from '../../config.ts'
import { type Check, fail, pass, warn } from './check.ts'

const TIMEOUT_MS = 600_000

interface Report {
  error?: string
  hint?: string
  location?: string
  latency_ms?: number
  /** Of a bucket. */
  storage?: Omit<Report, 'storage'>
}

/** Whether the settings name a libSQL server. A daemon may be started with another one. */
export const hasDatabaseServer = (paths: Paths): boolean =>
  environmentOverrides().databaseUrl !== undefined || readSettings(paths)['database-url'] !== undefined

const hasBucket = (paths: Paths): boolean =>
  environmentOverrides().storageUrl !== undefined || readSettings(paths)['storage-url'] !== undefined

/** Lets the daemon's program read the whole file, whether or not the daemon runs. Returns nothing before the first start. */
export async function checkStoredData(paths: Paths, root: string): Promise<Check[]> {
  if (!existsSync(paths.database) && !hasDatabaseServer(paths) && !hasBucket(paths)) return []
  const { file, nodeOptions } = getDaemonEntry(root)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, file, '--check-database'], { timeout: TIMEOUT_MS })
    const { storage, ...database } = JSON.parse(stdout) as Report
    return [toCheck('database', database), ...(storage ? [toCheck('storage', storage)] : [])]
  } catch (error) {
    return [warn('database', `could not be checked: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`)]
  }
}

function toCheck(name: string, { error, hint, location, latency_ms }: Report): Check {
  if (error !== undefined) return fail(name, error, hint)
  return pass(name, location === undefined ? 'no damage found' : `${location}, ${latency_ms} ms`)
}

/** The lock file is empty; the daemon cannot start with any other content. Returns undefined if it can. */
export function checkLock({ lock }: Paths): Check | undefined {
  if (!existsSync(lock)) return undefined
  const found = statSync(lock)
  if (found.isFile() && (found.size === 0 || readFileSync(lock).subarray(0, 16).equals(SQLITE_HEADER))) return undefined
  return fail('lock', `${lock} is damaged`, 'It contains no data. Delete it, then: cadre daemon start')
}

const SQLITE_HEADER = Buffer.from('SQLite format 3\0')
