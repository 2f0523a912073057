/** The daemon from the outside: is it healthy, start it in the background, stop it, connect to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { type DaemonRecord, HELD_BY_ANOTHER, makeFolder, type Paths, readSettings } from '../config.ts'
import type { Health as HealthRecord } from '../contract/families/system.ts'
import { version } from '../version.ts'
import { chosenAddress, findToken, isAlive, livingDaemon } from './address.ts'
import { UnreachableError } from './failures.ts'
import { type Connection, exchange } from './request.ts'

export type Health = Static<typeof HealthRecord>

export type Narrate = (line: string) => void

const START_DEADLINE_MS = 30_000
const STOP_DEADLINE_MS = 15_000
const POLL_MS = 50
/** A daemon that is on its way out still holds the home: try again, but not in a storm. */
const RESPAWN_AFTER_MS = 2_000

export async function health(url: string): Promise<Health | undefined> {
  try {
    const reply = await exchange({ url, token: undefined }, { method: 'GET', path: '/api/health', signal: AbortSignal.timeout(5_000) })
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
  narrate: Narrate
}

/** A connection to the service, which is started if that is allowed and needed. */
export async function connect({ paths, start, root, narrate }: ConnectOptions): Promise<Connection> {
  const chosen = chosenAddress(paths)
  if (chosen !== undefined) {
    const found = await health(chosen)
    if (!found)
      throw new UnreachableError(`Nothing answers at ${chosen}.`, {
        hint: 'The address comes from CADRE_URL or cadre config get url; such a daemon is not started from here.',
      })
    if (found.version !== version) narrate(`The service at ${chosen} is version ${found.version}, this command is ${version}.`)
    return { url: chosen, token: await findToken(paths, chosen, narrate), narrate }
  }
  const running = await runningDaemon(paths)
  if (!running) {
    if (!start || readSettings(paths).start === false)
      throw new UnreachableError('The daemon is not running.', { hint: 'cadre daemon start starts it.' })
    const { url } = await startDaemon({ paths, root, narrate, options: [] })
    return { url, token: await findToken(paths, url, narrate), narrate }
  }
  if (running.version !== version)
    throw new UnreachableError(`The running daemon is version ${running.version}, this command is ${version}.`, {
      hint: 'cadre daemon restart brings both to the same version.',
    })
  return { url: running.url, token: await findToken(paths, running.url, narrate), narrate }
}

/** The daemon of this home, if it lives and answers. */
export async function runningDaemon(paths: Paths): Promise<DaemonRecord | undefined> {
  const record = livingDaemon(paths)
  const answer = record && (await health(record.url))
  return record && answer ? { ...record, version: answer.version } : undefined
}

/** Room for what a daemon holds after its first minutes, in MB: without it, the first work is held up to look for garbage. */
export const HEAP_ROOM = '--initial-old-space-size=64'

/** The file that runs the daemon: the bundle, or the source when this runs from source. */
export function daemonEntry(root: string): { file: string; nodeOptions: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { file: join(root, 'dist', 'daemon', 'main.js'), nodeOptions: [HEAP_ROOM] }
  return { file: join(root, 'daemon', 'main.ts'), nodeOptions: ['--import', import.meta.resolve('tsx')] }
}

interface StartOptions {
  paths: Paths
  root: string
  narrate: Narrate
  /** Passed on to the daemon: --host, --port, --allow-remote. */
  options: string[]
}

/** Starts a daemon in the background and waits until one is ready; whose it is does not matter, there is one a home. */
export async function startDaemon({ paths, root, narrate, options }: StartOptions): Promise<DaemonRecord> {
  makeFolder(paths.logs)
  const output = join(paths.logs, 'start.log')
  const before = sizeOf(output)
  const deadline = Date.now() + START_DEADLINE_MS
  let child: ChildProcess | undefined
  let launched = 0
  try {
    while (Date.now() < deadline) {
      const running = await runningDaemon(paths)
      const held = child?.exitCode === HELD_BY_ANOTHER
      if (running && (child === undefined || held || running.pid === child.pid)) {
        narrate(running.pid === child?.pid ? `Started the Cadre daemon at ${running.url}` : `The Cadre daemon is running at ${running.url}`)
        return running
      }
      const ending = child?.signalCode ?? (held ? undefined : child?.exitCode)
      if (ending !== null && ending !== undefined) {
        throw new UnreachableError(`The daemon did not start (it ended with ${ending}).\n${lastLines(output, before)}`, {
          hint: 'cadre doctor looks for the cause.',
        })
      }
      if (child === undefined ? goesFirst(paths) : held && !livingDaemon(paths) && Date.now() - launched > RESPAWN_AFTER_MS) {
        child = launch(root, paths.home, options, output)
        launched = Date.now()
      }
      await wait(POLL_MS)
    }
  } finally {
    if (child) rmSync(startingFile(paths), { force: true })
  }
  throw new UnreachableError(`The daemon was not ready within ${START_DEADLINE_MS / 1000} seconds.\n${lastLines(output, before)}`, {
    hint: 'cadre daemon logs shows what it is doing.',
  })
}

const startingFile = (paths: Paths) => join(paths.home, 'starting')

/** Of many who start at once, one launches and the others wait for its daemon. This only saves work: who holds the home is for the kernel's lock to say. */
function goesFirst(paths: Paths): boolean {
  const file = startingFile(paths)
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    const starter = Number(readFileSync(file, 'utf8'))
    const late = Date.now() - statSync(file).mtimeMs > START_DEADLINE_MS
    if (late || (starter > 0 && !isAlive(starter))) rmSync(file, { force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error // the one that went first is through; look again
  }
  return false
}

function launch(root: string, home: string, options: string[], output: string): ChildProcess {
  const { file, nodeOptions } = daemonEntry(root)
  const log = openSync(output, 'a', 0o600)
  try {
    const child = spawn(process.execPath, [...nodeOptions, file, ...options], { detached: true, stdio: ['ignore', log, log], cwd: home })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function lastLines(file: string, from: number): string {
  if (sizeOf(file) <= from) return ''
  const lines = readFileSync(file).subarray(from).toString('utf8').trim().split('\n')
  return lines
    .slice(-10)
    .map((line) => `  ${line}`)
    .join('\n')
}

/** Stops the daemon of this home and waits until its process is gone. False when none was running. */
export async function stopDaemon(paths: Paths): Promise<boolean> {
  const record = livingDaemon(paths)
  if (!record) return false
  // The process in daemon.json may be gone and its number taken by another: only one that answers as a daemon is stopped.
  if (!(await health(record.url)))
    throw new UnreachableError(`Process ${record.pid} does not answer at ${record.url}, so it may not be the daemon.`, {
      hint: `Look at it first (ps -p ${record.pid}), then stop it yourself or delete ${paths.daemon}.`,
    })
  process.kill(record.pid, 'SIGTERM')
  const deadline = Date.now() + STOP_DEADLINE_MS
  while (isAlive(record.pid)) {
    if (Date.now() > deadline)
      throw new UnreachableError(`The daemon (process ${record.pid}) did not stop within ${STOP_DEADLINE_MS / 1000} seconds.`, {
        hint: 'cadre daemon logs shows what it is doing.',
      })
    await wait(POLL_MS)
  }
  return true
}
