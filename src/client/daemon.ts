/** Connects to the daemon, starts it in the background and stops it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDaemonEnvironment, type DaemonRecord, EXIT_HOME_IN_USE, ensureDirectory, type Paths, readSettings } from '../config.ts'
import type { Health } from '../contract/families/system.ts'
import { readDaemonSecret } from '../daemon-proof.ts'
import { createDeadlineSignal, scaleTimeout, startDeadline } from '../deadline.ts'
import { isNewerVersion, version } from '../version.ts'
import { findDaemonProcess, isLoopback, isProcessAlive, resolveAddress, resolveAdminToken, resolveCredentials } from './address.ts'
import { showIfSlow } from './call.ts'
import { UnreachableError } from './errors.ts'
import { type Connection, sendOnce } from './request.ts'
import { VerifyingAgent } from './verify-daemon.ts'

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000
const POLL_INTERVAL_MS = 50
const REPLIES_TIMEOUT_MS = 120_000
const REPLIES_POLL_INTERVAL_MS = 500
/** A daemon that is shutting down still holds the lock of the home. */
const RESPAWN_DELAY_MS = 2_000

export async function fetchHealth(url: string, agent?: Connection['agent']): Promise<Health | undefined> {
  try {
    const response = await sendOnce(
      { url, token: undefined, agent },
      { method: 'GET', path: '/api/health', signal: createDeadlineSignal(scaleTimeout(5_000)) },
    )
    const body = JSON.parse(await response.text()) as Partial<Health>
    return typeof body.version === 'string' && typeof body.status === 'string' ? (body as Health) : undefined
  } catch {
    return undefined // refused, timed out, or not a Cadre daemon
  }
}

/** Returns the health of the daemon that wrote daemon.json. Undefined if it does not respond, or if another program does. */
export async function fetchDaemonHealth(paths: Paths, { url }: DaemonRecord): Promise<Health | undefined> {
  if (hasSecret(paths, url)) return fetchHealth(url, new VerifyingAgent(paths, url))
  // Version 0.1 cannot prove anything. It is replaced, and no token is sent to it.
  const health = await fetchHealth(url)
  return health?.version === version ? undefined : health
}

const hasSecret = (paths: Paths, url: string) => readDaemonSecret(paths, url) !== undefined

export interface ConnectOptions {
  paths: Paths
  /** The profile of the --profile flag. */
  profile?: string | undefined
  /** Start the daemon if it is not running. */
  start: boolean
  /** Installation directory of Cadre. */
  root: string
  notify: Connection['notify']
  announceWait?: Connection['announceWait']
  showProgress?: Connection['showProgress']
}

/** Connects to the service and starts the daemon if necessary and allowed. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { paths, profile, notify, announceWait, showProgress } = options
  const address = resolveAddress(paths, profile)
  const url = address.url ?? (await findOrStartDaemon(options)).url
  if (address.url !== undefined) {
    const hint =
      address.profile === undefined
        ? 'The URL is set by CADRE_URL or cadre config set url. A daemon at a configured URL is not started automatically.'
        : `The URL is that of the profile "${address.profile}". To use the local daemon: --profile local, or cadre profiles use local`
    await checkService(address.url, hint, notify)
  }
  const isSameMachine = address.profile === undefined && isLoopback(url)
  return { url, ...(await resolveCredentials(paths, address, url, notify)), notify, announceWait, showProgress, isSameMachine }
}

/** Throws an UnreachableError if no service responds, and notifies the user if its version differs. */
export async function checkService(url: string, hint: string, notify: Connection['notify']): Promise<void> {
  const health = await fetchHealth(url)
  if (!health) throw new UnreachableError(`No Cadre service responds at ${url}.`, { hint })
  if (health.version !== version) notify(`The service at ${url} is version ${health.version}, this command is ${version}.`)
}

async function findOrStartDaemon({ paths, start, root, notify, showProgress }: Omit<ConnectOptions, 'profile'>): Promise<DaemonRecord> {
  const running = await findRunningDaemon(paths)
  const canStart = start && readSettings(paths).start !== false
  if (!running && !canStart) throw new UnreachableError('The daemon is not running.', { hint: 'To start it: cadre daemon start' })
  if (!running) return startDaemon({ paths, root, notify, showProgress, options: [] })
  if (running.version === version) return running
  requireReplaceable(running, canStart)
  if (hasSecret(paths, running.url)) await waitForReplies(paths, running, notify)
  notify(`Restarting the Cadre daemon: it is version ${running.version}, this command is ${version}.`)
  // Another command may have restarted it meanwhile.
  if (findDaemonProcess(paths)?.pid === running.pid) await stopDaemon(paths)
  const { options = ['--port', new URL(running.url).port || '80'] } = running
  return startDaemon({ paths, root, notify, showProgress, options })
}

/** Throws unless the daemon is older and can be restarted. A newer one is kept: commands of two versions would replace it in turns. */
function requireReplaceable(running: DaemonRecord, canStart: boolean): void {
  const message = `The running daemon is version ${running.version}, this command is ${version}.`
  if (!isNewerVersion(version, running.version))
    throw new UnreachableError(message, {
      hint: `Upgrade this command: npm install -g cadre@${running.version}. To run this version instead: cadre daemon restart`,
    })
  if (running.foreground)
    throw new UnreachableError(message, {
      hint: 'It is run by a service manager, a container or a terminal. Restart it there; a user service: systemctl --user restart cadre',
    })
  if (!canStart) throw new UnreachableError(message, { hint: 'To restart it with this version: cadre daemon restart' })
}

/** Waits until the daemon writes no reply, because a stop would interrupt it. */
async function waitForReplies(paths: Paths, { url, version: running }: DaemonRecord, notify: Connection['notify']): Promise<void> {
  const connection = { url, token: await resolveAdminToken(paths, () => undefined), agent: new VerifyingAgent(paths, url) }
  const deadline = startDeadline(scaleTimeout(REPLIES_TIMEOUT_MS)).unref()
  for (let waited = false; ; waited = true) {
    const count = await countReplies(connection)
    if (count === 0) return
    const replies = `${count} ${count === 1 ? 'reply' : 'replies'}`
    if (deadline.hasPassed)
      throw new UnreachableError(`The daemon is version ${running}, this command is ${version}, and it is still writing ${replies}.`, {
        hint: 'Try again later, or interrupt them: cadre daemon restart',
      })
    if (!waited) notify(`Waiting for ${replies} before the daemon is restarted with version ${version}.`)
    await sleep(REPLIES_POLL_INTERVAL_MS)
  }
}

/** Returns 0 if the daemon does not say. */
async function countReplies(connection: Pick<Connection, 'url' | 'token' | 'agent'>): Promise<number> {
  try {
    const response = await sendOnce(connection, { method: 'GET', path: '/api/status', signal: createDeadlineSignal(scaleTimeout(5_000)) })
    const { data } = JSON.parse(await response.text()) as { data?: { queues?: Record<string, number> } }
    return data?.queues?.replies ?? 0
  } catch {
    return 0 // it is stopping
  }
}

/** Returns the daemon of this home if it runs and responds. */
export async function findRunningDaemon(paths: Paths): Promise<DaemonRecord | undefined> {
  const record = findDaemonProcess(paths)
  const health = record && (await fetchDaemonHealth(paths, record))
  return record && health ? { ...record, version: health.version } : undefined
}

/** Initial heap of the daemon in MB: avoids garbage collections during its first requests. */
export const HEAP_SIZE_OPTION = '--initial-old-space-size=64'

/** Returns the bundle, or the source file when running from source. */
export function getDaemonEntry(root: string): { file: string; nodeOptions: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { file: join(root, 'dist', 'daemon', 'main.js'), nodeOptions: [HEAP_SIZE_OPTION] }
  return { file: join(root, 'daemon', 'main.ts'), nodeOptions: ['--import', import.meta.resolve('tsx')] }
}

interface StartOptions extends Omit<ConnectOptions, 'start' | 'profile'> {
  /** Options of the daemon: --host, --port, --allow-remote. */
  options: string[]
}

/** Starts a daemon in the background and waits until one is ready, no matter which process started it. */
export async function startDaemon(options: StartOptions): Promise<DaemonRecord> {
  return showIfSlow(options, 'Starting the daemon', () => spawnAndWait(options))
}

async function spawnAndWait({ paths, root, notify, options }: StartOptions): Promise<DaemonRecord> {
  ensureDirectory(paths.logs)
  const output = join(paths.logs, 'start.log')
  const before = getFileSize(output)
  const deadline = startDeadline(scaleTimeout(START_TIMEOUT_MS)).unref()
  let child: ChildProcess | undefined
  let spawnedAt = 0
  try {
    while (!deadline.hasPassed) {
      const running = await findRunningDaemon(paths)
      const isHomeInUse = child?.exitCode === EXIT_HOME_IN_USE
      if (running && (child === undefined || isHomeInUse || running.pid === child.pid)) {
        notify(running.pid === child?.pid ? `Started the Cadre daemon at ${running.url}` : `The Cadre daemon is running at ${running.url}`)
        return running
      }
      const exit = child?.signalCode ?? (isHomeInUse ? undefined : child?.exitCode)
      if (exit !== null && exit !== undefined)
        throw new UnreachableError(`The daemon did not start (exit ${exit}).\n${readLastLines(output, before)}`, {
          hint: 'To find the cause: cadre doctor',
        })
      if (
        child === undefined
          ? acquireStartLock(paths)
          : isHomeInUse && !findDaemonProcess(paths) && Date.now() - spawnedAt > RESPAWN_DELAY_MS
      ) {
        child = spawnDaemon(root, paths.home, options, output)
        spawnedAt = Date.now()
      }
      await sleep(POLL_INTERVAL_MS)
    }
  } finally {
    if (child) rmSync(getStartLockPath(paths), { force: true })
  }
  throw new UnreachableError(`The daemon was not ready within ${START_TIMEOUT_MS / 1000} seconds.\n${readLastLines(output, before)}`, {
    hint: 'To see its log: cadre daemon logs',
  })
}

const getStartLockPath = (paths: Paths) => join(paths.home, 'starting')

/** Lets one of several commands start the daemon. Only saves work: the lock of the home prevents a second daemon. */
function acquireStartLock(paths: Paths): boolean {
  const file = getStartLockPath(paths)
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    const isStale = Date.now() - statSync(file).mtimeMs > scaleTimeout(START_TIMEOUT_MS)
    if (isStale || (pid > 0 && !isProcessAlive(pid))) rmSync(file, { force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error // released meanwhile: try again
  }
  return false
}

function spawnDaemon(root: string, home: string, options: string[], output: string): ChildProcess {
  const { file, nodeOptions } = getDaemonEntry(root)
  const log = openSync(output, 'a', 0o600)
  try {
    const env = createDaemonEnvironment()
    const child = spawn(process.execPath, [...nodeOptions, file, ...options], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: home,
      env,
    })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

function getFileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function readLastLines(file: string, from: number): string {
  if (getFileSize(file) <= from) return ''
  const lines = readFileSync(file).subarray(from).toString('utf8').trim().split('\n')
  return lines
    .slice(-10)
    .map((line) => `  ${line}`)
    .join('\n')
}

/** Stops the daemon of this home and waits for its process to exit. Returns false if none is running. */
export async function stopDaemon(paths: Paths): Promise<boolean> {
  const record = findDaemonProcess(paths)
  if (!record) return false
  // The pid may have been reused: stop only the daemon.
  if (!(await fetchDaemonHealth(paths, record)))
    throw new UnreachableError(`Process ${record.pid} does not respond at ${record.url}, so it may not be the daemon.`, {
      hint: `Check the process (ps -p ${record.pid}), then stop it or delete ${paths.daemon}.`,
    })
  process.kill(record.pid, 'SIGTERM')
  const deadline = startDeadline(scaleTimeout(STOP_TIMEOUT_MS)).unref()
  while (isProcessAlive(record.pid)) {
    if (deadline.hasPassed)
      throw new UnreachableError(`The daemon (process ${record.pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} seconds.`, {
        hint: 'To see its log: cadre daemon logs',
      })
    await sleep(POLL_INTERVAL_MS)
  }
  return true
}
