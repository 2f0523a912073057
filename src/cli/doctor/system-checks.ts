/** Checks of `cadre doctor` for the installation, the home and the daemon. */
import { accessSync, constants, readdirSync, type Stats, statfsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { type Address, findDaemonProcess, isLoopback, resolveCredentials, resolveSecretsLocation } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import { fetchDaemonHealth, fetchHealth } from '../../client/find-daemon.ts'
import { DEFAULT_PORT, environmentOverrides, type Paths } from '../../config.ts'
import { type Health, type Status, systemRoutes } from '../../contract/families/system.ts'
import { version } from '../../version.ts'
import { isFolder } from '../input/list-folders.ts'
import { toFailure } from '../terminal/failures/describe-failure.ts'
import { formatBytes } from '../terminal/format-quantity.ts'
import { type Check, fail, pass, warn } from './check.ts'
import { checkLock, checkStoredData, hasDatabaseServer } from './file-checks.ts'
import { checkResources } from './resource-checks.ts'

const STORAGE_HINT = 'Check the storage, and AWS_ENDPOINT_URL of the daemon. The log has the reason: cadre daemon logs'
const MIN_FREE_BYTES = 1024 ** 3
const MIN_NODE_VERSION = [20, 19] as const

export function checkNode(): Check {
  const running = process.versions.node
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const good = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return good ? pass('node', running) : fail('node', running, `Install Node ${MIN_NODE_VERSION.join('.')} or later.`)
}

/** The home must not be accessible to other users. */
export function checkHome({ home }: Paths): Check {
  let found: Stats | undefined
  try {
    found = statSync(home, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) return fail('home', `${home} is a file`, 'Set CADRE_HOME to a directory.')
    accessSync(found ? home : resolveExistingFolder(home), constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return fail('home', toFailure(error).error, 'Change its owner with chown, or set CADRE_HOME to another directory.')
  }
  if (!found) return pass('home', `${home} (created at the first start)`)
  if (process.platform === 'win32') return pass('home', home)
  const open = [home, ...readdirSync(home).map((name) => join(home, name))].filter(
    (path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  )
  return open.length === 0 ? pass('home', home) : fail('home', `accessible to other users: ${open.join(', ')}`, `chmod -R go= '${home}'`)
}

/** Returns the path or its nearest existing parent folder. */
function resolveExistingFolder(path: string): string {
  return isFolder(path) || dirname(path) === path ? path : resolveExistingFolder(dirname(path))
}

export function checkDisk({ home }: Paths): Check {
  const place = resolveExistingFolder(home)
  try {
    const { bavail, bsize } = statfsSync(place)
    const free = bavail * bsize
    if (free >= MIN_FREE_BYTES) return pass('disk', `${formatBytes(free)} free`)
    const report = free > MIN_FREE_BYTES / 10 ? warn : fail
    return report('disk', `only ${formatBytes(free)} free at ${place}`, 'Free up disk space, or set CADRE_HOME to another disk.')
  } catch (error) {
    return warn('disk', `unknown: ${(error as Error).message}`)
  }
}

/** The embedded model is needed for semantic search. */
export function checkEmbedding(root: string): Check {
  const missing = ['minilm.onnx', 'tokenizer.json'].filter(
    (file) => !statSync(join(root, 'dist', 'models', file), { throwIfNoEntry: false })?.size,
  )
  if (missing.length === 0) return pass('embedding', 'the embedded model is complete')
  const found = `the embedded model is incomplete: missing ${missing.join(' and ')}`
  return fail('embedding', found, 'Reinstall Cadre; in a clone, run: npm run build')
}

/** Checks the daemon and everything behind it. */
export async function checkService(paths: Paths, address: Address, root: string): Promise<Check[]> {
  const { url: serviceUrl, profile } = address
  const record = findDaemonProcess(paths)
  const url = serviceUrl ?? record?.url
  // A running daemon reports the state of a server itself; its token may not be available here.
  const isLocal = serviceUrl === undefined && (url === undefined || !hasDatabaseServer(paths))
  const stored = isLocal ? await checkStoredData(paths, root) : []
  if (url === undefined) return checkStoppedDaemon(paths, stored)
  const answer = record && url === record.url ? await fetchDaemonHealth(paths, record) : await fetchHealth(url)
  if (!answer) {
    const fix = serviceUrl
      ? `Check ${profile === undefined ? 'CADRE_URL and: cadre config get url' : 'the URL of the profile: cadre profiles list'}`
      : `Check what process ${record?.pid} is doing: cadre daemon logs. If it hangs, kill it.`
    return [fail('daemon', `no response from ${url}`, fix)]
  }
  const service = [
    pass('daemon', profile === undefined ? url : `${url} (profile ${profile})`),
    checkVersion(answer, serviceUrl !== undefined),
  ]
  // The other checks read the database and would fail for the same reason.
  const database = stored.find(({ name }) => name === 'database')
  if (database?.state === 'broken') return [...service, database]
  return [...service, ...checkStores(answer), ...(await checkAccess(paths, address, url))]
}

/** Suggests starting the daemon only if its files allow it. */
async function checkStoppedDaemon(paths: Paths, stored: readonly Check[]): Promise<Check[]> {
  const files = [checkLock(paths), ...stored].filter((check) => check !== undefined)
  if (files.some(({ state }) => state === 'broken')) return [fail('daemon', 'not running'), ...files]
  return [await checkPort(environmentOverrides().port ?? DEFAULT_PORT), ...files]
}

/** Checks whether the port is free if no daemon is running. */
async function checkPort(port: number): Promise<Check> {
  if (port === 0 || !(await isPortInUse(port))) return fail('daemon', 'not running', 'cadre daemon start')
  return fail('daemon', `not running, and another program uses port ${port}`, 'cadre daemon start --port 0')
}

function isPortInUse(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function checkVersion(answer: Health, remote: boolean): Check {
  if (answer.version === version) return pass('version', version)
  const found = `the service is ${answer.version}, this command is ${version}`
  return remote ? warn('version', found, 'Install the same version on both sides.') : fail('version', found, 'cadre daemon restart')
}

function checkStores(answer: Health): Check[] {
  const check = (name: string, state: string): Check =>
    state === 'connected' ? pass(name, state) : fail(name, state, 'For details: cadre daemon logs. To reopen it: cadre daemon restart')
  return [check('database', answer.database), check('vectors', answer.vector_db)]
}

async function checkAccess(paths: Paths, address: Address, url: string): Promise<Check[]> {
  const messages: string[] = []
  const notify = (line: string) => void messages.push(line)
  try {
    const { token, agent } = await resolveCredentials(paths, address, url, notify)
    if (token === undefined) {
      const fix = agent ? 'cadre tokens recover' : `cadre login ${url}`
      return [fail('token', messages[0] ?? 'none found', fix)]
    }
    const connection = { url, token, agent, notify, announceWait: (line: string) => void process.stderr.write(`${line}\n`) }
    const { data } = await call(connection, systemRoutes.status, {})
    const accepted = pass('token', address.profile === undefined && environmentOverrides().token ? 'from CADRE_TOKEN' : 'accepted')
    const own = [accepted, checkSecrets(data.secrets, paths, url), ...checkRecords(data.database), ...checkStorage(data.storage)]
    return [...own, ...(await checkResources(connection)), checkBackup(data.last_backup_at)]
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code === 'FORBIDDEN') return [pass('token', 'accepted; its role cannot run the other checks')]
    return [fail('token', failure.error, failure.hint)]
  }
}

/** The daemon measures the latency of a server; a file needs no check of its own. */
const checkRecords = ({ location, latency_ms }: Status['database']): Check[] =>
  location.includes('://') ? [pass('records', `${location}, ${latency_ms} ms`)] : []

const checkStorage = ({ location, latency_ms }: Status['storage']): Check[] => {
  if (!location.includes('://')) return []
  return [
    latency_ms === null ? fail('storage', `${location} cannot be reached`, STORAGE_HINT) : pass('storage', `${location}, ${latency_ms} ms`),
  ]
}

/** Suggests a backup; a home without one still works. */
const checkBackup = (createdAt: string | null): Check =>
  pass('backup', createdAt === null ? 'none yet; to create one: cadre backup FILE' : `last created at ${createdAt}`)

function checkSecrets(where: Status['secrets'], paths: Paths, url: string): Check {
  const place = isLoopback(url) ? resolveSecretsLocation(paths) : undefined
  if (where === 'locked' && place === 'file')
    return fail(
      'secrets',
      `the vault is locked: its key is missing from ${paths.vaultKey} or does not match`,
      `Restore the key from a backup, then: cadre daemon restart. If it is lost, delete ${paths.vault}, restart and set the secrets again.`,
    )
  if (where === 'locked')
    return fail(
      'secrets',
      'the vault is locked: its key is in the keychain, which the daemon cannot access',
      'Unlock the keychain, unset CADRE_KEYCHAIN=off, then: cadre daemon restart',
    )
  const places = { keychain: 'in the keychain', file: 'in a file in the home', environment: 'in CADRE_VAULT_KEY' }
  return pass('secrets', `vault; key ${places[where]}`)
}
