/** Starts the daemon in the background. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDaemonEnvironment, type DaemonRecord, EXIT_HOME_IN_USE, ensureDirectory, type Paths } from '../config.ts'
import { scaleTimeout, startDeadline } from '../deadline.ts'
import { findDaemonProcess, isProcessAlive } from './address.ts'
import { showIfSlow } from './call.ts'
import { UnreachableError } from './errors.ts'
import { findRunningDaemon } from './find-daemon.ts'
import type { Connection } from './request.ts'

const START_TIMEOUT_MS = 30_000
const POLL_INTERVAL_MS = 50
/** A daemon that is shutting down still holds the lock of the home. */
const RESPAWN_DELAY_MS = 2_000

/** Initial heap of the daemon in MB: avoids garbage collections during its first requests. */
export const HEAP_SIZE_OPTION = '--initial-old-space-size=64'

/** Returns the bundle, or the source file when running from source. */
export function getDaemonEntry(root: string): { file: string; nodeOptions: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { file: join(root, 'dist', 'daemon', 'main.js'), nodeOptions: [HEAP_SIZE_OPTION] }
  return { file: join(root, 'daemon', 'main.ts'), nodeOptions: ['--import', import.meta.resolve('tsx')] }
}

export interface StartOptions extends Pick<Connection, 'notify' | 'showProgress'> {
  paths: Paths
  /** Installation directory of Cadre. */
  root: string
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
