/** The daemon from the outside: is it healthy, start it in the background, stop it, connect to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { type DaemonRecord, EXIT_HOME_IN_USE, ensureDirectory, type Paths, readSettings } from '../config.ts'
import type { Health as HealthRecord } from '../contract/families/system.ts'
import { version } from '../version.ts'
import { findConfiguredUrl, findDaemonProcess, findToken, isProcessAlive } from './address.ts'
import { UnreachableError } from './errors.ts'
import { type Connection, sendOnce } from './request.ts'

export type Health = Static<typeof HealthRecord>

export type Notify = (line: string) => void

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000
const POLL_INTERVAL_MS = 50
/** A daemon that is on its way out still holds the home: try again, but not in a storm. */
const RESPAWN_DELAY_MS = 2_000

export async function fetchHealth(url: string): Promise<Health | undefined> {
  try {
    const reply = await sendOnce({ url, token: undefined }, { method: 'GET', path: '/api/health', signal: AbortSignal.timeout(5_000) })
    const body = JSON.parse(await reply.text()) as Partial<Health>
    return typeof body.version === 'string' && typeof body.status === 'string' ? (body as Health) : undefined
  } catch {
    return undefined // refused, too slow, or not one of ours: either way there is no daemon here
  }
}

export interface ConnectOptions {
  paths: Paths
  /** Start a daemon where none runs. */
  start: boolean
  root: string
  notify: Notify
}

/** A connection to the service, which is started if that is allowed and needed. */
export async function connect({ paths, start, root, notify: narrate }: ConnectOptions): Promise<Connection> {
  const chosen = findConfiguredUrl(paths)
  if (chosen !== undefined) {
    const found = await fetchHealth(chosen)
    if (!found)
      throw new UnreachableError(`Nothing answers at ${chosen}.`, {
        hint: 'The address comes from CADRE_URL or cadre config get url; such a daemon is not started from here.',
      })
    if (found.version !== version) narrate(`The service at ${chosen} is version ${found.version}, this command is ${version}.`)
    return { url: chosen, token: await findToken(paths, chosen, narrate), notify: narrate }
  }
  const running = await findRunningDaemon(paths)
  if (!running) {
    if (!start || readSettings(paths).start === false)
      throw new UnreachableError('The daemon is not running.', { hint: 'cadre daemon start starts it.' })
    const { url } = await startDaemon({ paths, root, notify: narrate, options: [] })
    return { url, token: await findToken(paths, url, narrate), notify: narrate }
  }
  if (running.version !== version)
    throw new UnreachableError(`The running daemon is version ${running.version}, this command is ${version}.`, {
      hint: 'cadre daemon restart brings both to the same version.',
    })
  return { url: running.url, token: await findToken(paths, running.url, narrate), notify: narrate }
}

/** The daemon of this home, if it lives and answers. */
export async function findRunningDaemon(paths: Paths): Promise<DaemonRecord | undefined> {
  const record = findDaemonProcess(paths)
  const answer = record && (await fetchHealth(record.url))
  return record && answer ? { ...record, version: answer.version } : undefined
}

/** Room for what a daemon holds after its first minutes, in MB: without it, the first work is held up to look for garbage. */
export const HEAP_SIZE_OPTION = '--initial-old-space-size=64'

/** The file that runs the daemon: the bundle, or the source when this runs from source. */
export function getDaemonEntry(root: string): { file: string; nodeOptions: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { file: join(root, 'dist', 'daemon', 'main.js'), nodeOptions: [HEAP_SIZE_OPTION] }
  return { file: join(root, 'daemon', 'main.ts'), nodeOptions: ['--import', import.meta.resolve('tsx')] }
}

interface StartOptions {
  paths: Paths
  root: string
  notify: Notify
  /** Passed on to the daemon: --host, --port, --allow-remote. */
  options: string[]
}

/** Starts a daemon in the background and waits until one is ready; whose it is does not matter, there is one a home. */
export async function startDaemon({ paths, root, notify: narrate, options }: StartOptions): Promise<DaemonRecord> {
  ensureDirectory(paths.logs)
  const output = join(paths.logs, 'start.log')
  const before = getFileSize(output)
  const deadline = Date.now() + START_TIMEOUT_MS
  let child: ChildProcess | undefined
  let launched = 0
  try {
    while (Date.now() < deadline) {
      const running = await findRunningDaemon(paths)
      const held = child?.exitCode === EXIT_HOME_IN_USE
      if (running && (child === undefined || held || running.pid === child.pid)) {
        narrate(running.pid === child?.pid ? `Started the Cadre daemon at ${running.url}` : `The Cadre daemon is running at ${running.url}`)
        return running
      }
      const ending = child?.signalCode ?? (held ? undefined : child?.exitCode)
      if (ending !== null && ending !== undefined) {
        throw new UnreachableError(`The daemon did not start (it ended with ${ending}).\n${readLastLines(output, before)}`, {
          hint: 'cadre doctor looks for the cause.',
        })
      }
      if (child === undefined ? acquireStartLock(paths) : held && !findDaemonProcess(paths) && Date.now() - launched > RESPAWN_DELAY_MS) {
        child = spawnDaemon(root, paths.home, options, output)
        launched = Date.now()
      }
      await wait(POLL_INTERVAL_MS)
    }
  } finally {
    if (child) rmSync(getStartLockPath(paths), { force: true })
  }
  throw new UnreachableError(`The daemon was not ready within ${START_TIMEOUT_MS / 1000} seconds.\n${readLastLines(output, before)}`, {
    hint: 'cadre daemon logs shows what it is doing.',
  })
}

const getStartLockPath = (paths: Paths) => join(paths.home, 'starting')

/** Of many who start at once, one launches and the others wait for its daemon. This only saves work: who holds the home is for the kernel's lock to say. */
function acquireStartLock(paths: Paths): boolean {
  const file = getStartLockPath(paths)
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    const starter = Number(readFileSync(file, 'utf8'))
    const late = Date.now() - statSync(file).mtimeMs > START_TIMEOUT_MS
    if (late || (starter > 0 && !isProcessAlive(starter))) rmSync(file, { force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error // the one that went first is through; look again
  }
  return false
}

function spawnDaemon(root: string, home: string, options: string[], output: string): ChildProcess {
  const { file, nodeOptions } = getDaemonEntry(root)
  const log = openSync(output, 'a', 0o600)
  try {
    const child = spawn(process.execPath, [...nodeOptions, file, ...options], { detached: true, stdio: ['ignore', log, log], cwd: home })
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

/** Stops the daemon of this home and waits until its process is gone. False when none was running. */
export async function stopDaemon(paths: Paths): Promise<boolean> {
  const record = findDaemonProcess(paths)
  if (!record) return false
  // The process in daemon.json may be gone and its number taken by another: only one that answers as a daemon is stopped.
  if (!(await fetchHealth(record.url)))
    throw new UnreachableError(`Process ${record.pid} does not answer at ${record.url}, so it may not be the daemon.`, {
      hint: `Look at it first (ps -p ${record.pid}), then stop it yourself or delete ${paths.daemon}.`,
    })
  process.kill(record.pid, 'SIGTERM')
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (isProcessAlive(record.pid)) {
    if (Date.now() > deadline)
      throw new UnreachableError(`The daemon (process ${record.pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} seconds.`, {
        hint: 'cadre daemon logs shows what it is doing.',
      })
    await wait(POLL_INTERVAL_MS)
  }
  return true
}
