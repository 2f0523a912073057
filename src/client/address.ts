/** Finds the URL of the service and the token for it: a profile, the environment, the settings or the home of the daemon. */
import { readFileSync } from 'node:fs'
import { type DaemonRecord, environmentOverrides, type Paths, readDaemonRecord, readSettings } from '../config.ts'
import { CadreError } from '../contract/errors.ts'
import { UnreachableError } from './errors.ts'
import { LOCAL_PROFILE, readProfiles, readProfileToken, requireProfile } from './profiles.ts'
import type { Connection } from './request.ts'
import { VerifyingAgent } from './verify-daemon.ts'

type Notify = Connection['notify']
type Credentials = Pick<Connection, 'token' | 'agent'>

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])
const RECOVER_HINT = 'To create a new one: cadre tokens recover'

/** The service that commands use. Without a URL it is the daemon of this home. */
export interface Address {
  url: string | undefined
  /** The profile that the URL comes from. */
  profile?: string
}

/** A named profile takes precedence over CADRE_URL, this over CADRE_PROFILE, the current profile and the setting url. */
export function resolveAddress(paths: Paths, profile?: string): Address {
  if (profile !== undefined) return resolveProfileAddress(paths, profile)
  const { url } = environmentOverrides()
  if (url !== undefined) return { url: resolveDaemonUrl(paths, url) }
  const selected = resolveSelectedProfile(paths)
  if (selected !== undefined) return resolveProfileAddress(paths, selected)
  const { url: configured } = readSettings(paths)
  return { url: configured === undefined ? undefined : resolveDaemonUrl(paths, configured) }
}

/** Names such as localhost can mean another program than the daemon, which listens on the same port of another loopback address. */
function resolveDaemonUrl(paths: Paths, given: string): string {
  const url = normalizeUrl(given)
  const own = readDaemonRecord(paths)?.url
  const isOwn = own !== undefined && isLoopback(url) && isLoopback(own) && new URL(url).port === new URL(own).port
  return isOwn && url === new URL(url).origin && url.startsWith('http:') ? own : url
}

/** Returns the profile of commands without --profile. It may not exist anymore. */
export function resolveSelectedProfile(paths: Paths): string | undefined {
  const { url, profile } = environmentOverrides()
  return url === undefined ? (profile ?? readProfiles(paths).current) : undefined
}

function resolveProfileAddress(paths: Paths, name: string): Address {
  return name === LOCAL_PROFILE ? { url: undefined } : { url: requireProfile(paths, name).url, profile: name }
}

/** Returns the root URL of a service, given with or without /api. */
export function normalizeUrl(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (error) {
    throw new UnreachableError(`"${url}" is not a valid URL.`, {
      hint: 'Set CADRE_URL or cadre config set url to a URL such as http://127.0.0.1:7411.',
      cause: error,
    })
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '').replace(/\/api(\/v1)?$/, '')}`
}

/** Returns the record in daemon.json if its process is alive. It may be another process that has got the same id. */
export function findDaemonProcess(paths: Paths): DaemonRecord | undefined {
  const record = readDaemonRecord(paths)
  return record && isProcessAlive(record.pid) ? record : undefined
}

/** A process of another user is never a process of the owner. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false // it does not exist, or belongs to another user
  }
}

/** Containers without an init process keep dead children in the process table. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // /proc is not mounted
  }
}

export function isLoopback(url: string): boolean {
  return LOOPBACK_HOSTS.has(new URL(url).hostname)
}

/**
 * The token of a profile is sent to its URL only, and no other token is sent there. The admin token of the home is sent only to the
 * daemon of the home. Any token that is sent to the address of this daemon may be one of its tokens, so it must prove that it is the one.
 */
export async function resolveCredentials(paths: Paths, address: Address, url: string, notify: Notify): Promise<Credentials> {
  const chosen = await resolveChosenToken(paths, address, notify)
  if (chosen !== undefined)
    return { token: chosen, agent: address.url === undefined ? new VerifyingAgent(paths, url) : createAgent(paths, url) }
  if (address.profile !== undefined || readDaemonRecord(paths)?.url !== url) return { token: undefined }
  return { token: await resolveAdminToken(paths, notify), agent: new VerifyingAgent(paths, url) }
}

/** Only for the address of the daemon of this home: no other daemon can prove that it wrote daemon.json. */
export const createAgent = (paths: Paths, url: string): VerifyingAgent | undefined =>
  readDaemonRecord(paths)?.url === url ? new VerifyingAgent(paths, url) : undefined

/** Returns the token of the profile, the environment or the settings. */
async function resolveChosenToken(paths: Paths, address: Address, notify: Notify): Promise<string | undefined> {
  const environment = environmentOverrides()
  if (address.profile !== undefined) {
    if (environment.token !== undefined) notify(`CADRE_TOKEN is ignored: the profile "${address.profile}" has its own token.`)
    return requireValidToken(await readProfileToken(paths, address.profile), `the profile "${address.profile}"`)
  }
  const settings = readSettings(paths)
  // With the profile "local", tokens for another URL are not sent to the daemon.
  const isLocal = address.url === undefined
  if (environment.token !== undefined && !(isLocal && environment.url !== undefined))
    return requireValidToken(environment.token, 'CADRE_TOKEN')
  if (settings.token !== undefined && !(isLocal && settings.url !== undefined)) return requireValidToken(settings.token, paths.settings)
  return undefined
}

/** Loads the admin token from the home or the keychain and notifies the user if it is missing. */
export async function resolveAdminToken(paths: Paths, notify: Notify): Promise<string | undefined> {
  const token = readTokenFile(paths)
  if (token !== undefined) return token
  const location = resolveSecretsLocation(paths)
  if (location === 'file') {
    notify(`The admin token is missing from ${paths.token}. ${RECOVER_HINT}`)
    return undefined
  }
  const { ADMIN_TOKEN, KeychainError, readKeychain } = await import('../keychain.ts')
  try {
    const stored = await readKeychain(paths.home, ADMIN_TOKEN)
    if (stored === undefined && location === 'keychain')
      notify(`The keychain no longer contains the admin token of ${paths.home}. ${RECOVER_HINT}`)
    return stored
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error
    // Before the first start of the daemon there is no token, with or without a keychain.
    if (location === 'keychain') notify(`The admin token is in the keychain. ${error.message} ${error.hint ?? ''} ${RECOVER_HINT}`)
    return undefined
  }
}

/** Returns where the daemon of this home keeps its vault key and admin token; undefined before its first start. */
export function resolveSecretsLocation(paths: Paths): 'keychain' | 'file' | undefined {
  try {
    const { location } = JSON.parse(readFileSync(paths.vault, 'utf8')) as { location?: unknown }
    return location === 'keychain' || location === 'file' ? location : undefined
  } catch {
    return undefined // missing or unreadable: the daemon reports it on start
  }
}

/** Other characters cannot be sent in a header; the request would fail without naming the token. */
export const isValidToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

function requireValidToken(token: string, location: string): string {
  if (isValidToken(token)) return token
  throw new CadreError(
    'UNAUTHENTICATED',
    `The token in ${location} is damaged: it contains control characters, spaces or non-ASCII characters.`,
  )
}

function readTokenFile(paths: Paths): string | undefined {
  try {
    const token = readFileSync(paths.token, 'utf8').trim()
    return token === '' ? undefined : requireValidToken(token, paths.token)
  } catch (error) {
    if (error instanceof CadreError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UnreachableError(`Cannot read the token in ${paths.token}.`, { hint: 'To find the cause: cadre doctor', cause: error })
  }
}
