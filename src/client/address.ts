/** Where the service is and which token opens it: environment, then settings, then what the daemon left in its home. */
import { readFileSync } from 'node:fs'
import { type DaemonRecord, environmentOverrides, type Paths, readDaemonRecord, readSettings } from '../config.ts'
import { UnreachableError } from './errors.ts'

/** The address the user chose, if any. */
export function findConfiguredUrl(paths: Paths): string | undefined {
  const url = environmentOverrides().url ?? readSettings(paths).url
  return url === undefined ? undefined : normalizeUrl(url)
}

/** People paste addresses with and without /api; ours is the root. */
export function normalizeUrl(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (error) {
    throw new UnreachableError(`"${url}" is not an address.`, {
      hint: 'Use one like http://127.0.0.1:7411 in CADRE_URL or cadre config set url.',
      cause: error,
    })
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '').replace(/\/api(\/v1)?$/, '')}`
}

/** What the daemon says of itself, if that process still lives. */
export function findDaemonProcess(paths: Paths): DaemonRecord | undefined {
  const record = readDaemonRecord(paths)
  return record && isProcessAlive(record.pid) ? record : undefined
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Containers without an init keep dead children in the process table. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // no /proc to look into: what kill said stands
  }
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Whether the service is on this machine, so that paths mean the same to both sides. */
export function isLoopback(url: string): boolean {
  return LOOPBACK_HOSTS.has(new URL(url).hostname)
}

/** The token to send. What a local daemon left behind is never sent to another machine. */
export async function findToken(paths: Paths, url: string, narrate: (line: string) => void): Promise<string | undefined> {
  const given = environmentOverrides().token ?? readSettings(paths).token
  if (given !== undefined) return given
  if (!isLoopback(url) && readDaemonRecord(paths)?.url !== url) return undefined
  return findAdminToken(paths, narrate)
}

/** The admin token where the daemon left it; says why it is not there. */
export async function findAdminToken(paths: Paths, narrate: (line: string) => void): Promise<string | undefined> {
  const inFile = readTokenFile(paths)
  if (inFile !== undefined) return inFile
  const place = findSecretsLocation(paths)
  if (place === 'file') {
    narrate(`The admin token is gone: it was left in ${paths.token}. ${RECOVER_HINT}`)
    return undefined
  }
  const { ADMIN_TOKEN, KeychainError, readKeychain } = await import('../keychain.ts')
  try {
    const token = await readKeychain(paths.home, ADMIN_TOKEN)
    if (token === undefined && place === 'keychain')
      narrate(`The keychain no longer holds the admin token of ${paths.home}. ${RECOVER_HINT}`)
    return token
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error
    // Where nothing was ever kept, the keychain is no reason why there is no token.
    if (place === 'keychain') narrate(`The admin token is in the keychain. ${error.message} ${error.hint ?? ''} ${RECOVER_HINT}`)
    return undefined
  }
}

const RECOVER_HINT = 'To make a new one: cadre tokens recover'

/** Where the daemon of this home keeps the key of its vault and its admin token; undefined before its first start. */
export function findSecretsLocation(paths: Paths): 'keychain' | 'file' | undefined {
  try {
    const { location } = JSON.parse(readFileSync(paths.vault, 'utf8')) as { location?: unknown }
    return location === 'keychain' || location === 'file' ? location : undefined
  } catch {
    return undefined // not there, or not readable: the daemon says so when it starts
  }
}

function readTokenFile(paths: Paths): string | undefined {
  try {
    return readFileSync(paths.token, 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UnreachableError(`The token in ${paths.token} cannot be read.`, {
      hint: 'cadre doctor tells what is wrong with it.',
      cause: error,
    })
  }
}
