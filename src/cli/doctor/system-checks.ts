/** What `cadre doctor` looks at: each check says what it found and, when that is bad, what mends it. */
import { accessSync, constants, readdirSync, type Stats, statfsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { chosenAddress, findToken, isHere, livingDaemon, secretsPlace } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import { type Health, health } from '../../client/daemon.ts'
import { DEFAULT_PORT, environmentOverrides, type Paths } from '../../config.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { version } from '../../version.ts'
import { toFailure } from '../terminal/errors.ts'
import { formatBytes } from '../terminal/format-quantity.ts'
import type { Check } from './check.ts'
import { checkResources } from './resource-checks.ts'

const MIN_FREE_BYTES = 1024 ** 3
const MIN_NODE_VERSION = [20, 19] as const

export function checkNode(running: string = process.versions.node): Check {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const good = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return good
    ? { name: 'node', state: 'good', found: running }
    : { name: 'node', state: 'broken', found: running, fix: `Install Node ${MIN_NODE_VERSION.join('.')} or later.` }
}

/** What is in the home belongs to one user; others must not read it. */
export function checkHome({ home }: Paths): Check {
  let found: Stats | undefined
  try {
    found = statSync(home, { throwIfNoEntry: false })
    if (found && !found.isDirectory())
      return { name: 'home', state: 'broken', found: `${home} is a file`, fix: 'Choose a directory with CADRE_HOME.' }
    accessSync(found ? home : findExistingFolder(home), constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return {
      name: 'home',
      state: 'broken',
      found: toFailure(error).error,
      fix: 'Make it yours with chown, or choose another one with CADRE_HOME.',
    }
  }
  if (!found) return { name: 'home', state: 'good', found: `${home} (made at the first start)` }
  if (process.platform === 'win32') return { name: 'home', state: 'good', found: home }
  const open = [home, ...readdirSync(home).map((name) => join(home, name))].filter(
    (path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  )
  if (open.length === 0) return { name: 'home', state: 'good', found: home }
  return { name: 'home', state: 'broken', found: `open to other users: ${open.join(', ')}`, fix: `chmod -R go= '${home}'` }
}

/** The folder nearest to a path that is there. */
function findExistingFolder(path: string): string {
  return isFolder(path) || dirname(path) === path ? path : findExistingFolder(dirname(path))
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // not there, or below a file
  }
}

export function checkDisk({ home }: Paths): Check {
  const place = findExistingFolder(home)
  try {
    const { bavail, bsize } = statfsSync(place)
    const free = bavail * bsize
    return free >= MIN_FREE_BYTES
      ? { name: 'disk', state: 'good', found: `${formatBytes(free)} free` }
      : {
          name: 'disk',
          state: free > MIN_FREE_BYTES / 10 ? 'warning' : 'broken',
          found: `only ${formatBytes(free)} free at ${place}`,
          fix: 'Free some space, or move the home with CADRE_HOME.',
        }
  } catch (error) {
    return { name: 'disk', state: 'warning', found: `unknown: ${(error as Error).message}` }
  }
}

/** The model that is part of Cadre; without it nothing is found by its meaning. */
export function checkEmbedding(root: string): Check {
  const missing = ['minilm.onnx', 'tokenizer.json'].filter(
    (file) => !statSync(join(root, 'dist', 'models', file), { throwIfNoEntry: false })?.size,
  )
  return missing.length === 0
    ? { name: 'embedding', state: 'good', found: 'the embedded model is complete' }
    : {
        name: 'embedding',
        state: 'broken',
        found: `of the embedded model ${missing.join(' and ')} is missing`,
        fix: 'Install Cadre again; in a clone: npm run build',
      }
}

/** The daemon and everything that only it can tell. */
export async function checkService(paths: Paths): Promise<Check[]> {
  const chosen = chosenAddress(paths)
  const record = livingDaemon(paths)
  const url = chosen ?? record?.url
  if (url === undefined) return [await checkPort(environmentOverrides().port ?? DEFAULT_PORT)]
  const answer = await health(url)
  if (!answer)
    return [
      {
        name: 'daemon',
        state: 'broken',
        found: `nothing answers at ${url}`,
        fix: chosen
          ? 'Check CADRE_URL and cadre config get url.'
          : `cadre daemon logs tells what process ${record?.pid} is doing; end it if it hangs.`,
      },
    ]
  return [
    { name: 'daemon', state: 'good', found: url },
    checkVersion(answer, chosen !== undefined),
    ...checkStores(answer),
    ...(await checkAccess(paths, url)),
  ]
}

/** Why a daemon that is not running may not start. */
async function checkPort(port: number): Promise<Check> {
  const stopped = { name: 'daemon', state: 'broken' } as const
  if (port === 0 || !(await isPortInUse(port))) return { ...stopped, found: 'not running', fix: 'cadre daemon start' }
  return { ...stopped, found: `not running, and another program has port ${port}`, fix: 'cadre daemon start --port 0' }
}

function isPortInUse(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function checkVersion(answer: Health, remote: boolean): Check {
  if (answer.version === version) return { name: 'version', state: 'good', found: version }
  const found = `the service is ${answer.version}, this command is ${version}`
  return remote
    ? { name: 'version', state: 'warning', found, fix: 'Install the same version on both sides.' }
    : { name: 'version', state: 'broken', found, fix: 'cadre daemon restart' }
}

function checkStores(answer: Health): Check[] {
  const store = (name: string, state: string): Check =>
    state === 'connected'
      ? { name, state: 'good', found: state }
      : { name, state: 'broken', found: state, fix: 'cadre daemon logs holds the cause; cadre daemon restart opens it again.' }
  return [store('database', answer.database), store('vectors', answer.vector_db)]
}

async function checkAccess(paths: Paths, url: string): Promise<Check[]> {
  const said: string[] = []
  const narrate = (line: string) => void said.push(line)
  const token = await findToken(paths, url, narrate)
  if (token === undefined)
    return [
      {
        name: 'token',
        state: 'broken',
        found: said[0] ?? 'none found',
        fix: isHere(url) ? 'cadre tokens recover' : 'Set CADRE_TOKEN, or: cadre config set token -',
      },
    ]
  try {
    const connection = { url, token, narrate }
    const { data } = await call(connection, systemRoutes.status, {})
    const accepted: Check = { name: 'token', state: 'good', found: environmentOverrides().token ? 'from CADRE_TOKEN' : 'accepted' }
    return [accepted, checkSecrets(data.secrets, paths, url), ...(await checkResources(connection))]
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code === 'FORBIDDEN') return [{ name: 'token', state: 'good', found: 'accepted; its role may not see the rest' }]
    return [{ name: 'token', state: 'broken', found: failure.error, ...(failure.hint ? { fix: failure.hint } : {}) }]
  }
}

function checkSecrets(where: 'keychain' | 'file' | 'locked', paths: Paths, url: string): Check {
  const place = isHere(url) ? secretsPlace(paths) : undefined
  if (where === 'locked' && place === 'file')
    return {
      name: 'secrets',
      state: 'broken',
      found: `the vault is locked: its key is missing from ${paths.vaultKey}, or another one is there`,
      fix: `Bring it back from a backup, then: cadre daemon restart. If it is lost, delete ${paths.vault}, restart, and set the secrets again.`,
    }
  if (where === 'locked')
    return {
      name: 'secrets',
      state: 'broken',
      found: 'the vault is locked: its key is in the keychain, which the daemon cannot reach',
      fix: 'Unlock the keychain, leave CADRE_KEYCHAIN=off out, then: cadre daemon restart',
    }
  return {
    name: 'secrets',
    state: 'good',
    found: where === 'keychain' ? 'vault, its key in the keychain' : 'vault, its key in a file of the home',
  }
}
