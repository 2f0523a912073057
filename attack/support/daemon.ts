/** Runs the built daemon in a home of its own, which is removed afterwards. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { HEAP_SIZE_OPTION } from '../../src/client/start-daemon.ts'
import { DAEMON_ENVIRONMENT } from '../../src/config.ts'
import { type DaemonOptions, type DaemonProcess, startDaemon, TOKEN } from '../../test/harness/daemon.ts'
import { Client } from './client.ts'

/** How long the end of a daemon is waited for after a request has failed. */
const MAX_EXIT_MS = 2_000

export interface RunningDaemon extends DaemonProcess {
  home: string
  client: Client
}

/** Runs work with a temporary folder. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-attack-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Starts the daemon with the options that the CLI uses. */
export async function openDaemon(home: string, options: DaemonOptions = {}): Promise<RunningDaemon> {
  const nodeOptions = [HEAP_SIZE_OPTION, ...(options.nodeOptions ?? [])]
  const environment = { ...DAEMON_ENVIRONMENT, ...options.environment }
  const daemon = await startDaemon(home, { token: TOKEN, ...options, environment, nodeOptions })
  const client = new Client(daemon.url)
  const stop: DaemonProcess['stop'] = async (signal) => {
    const code = await daemon.stop(signal)
    await client.close()
    return code
  }
  return { ...daemon, home, client, stop, kill: async () => void (await stop('SIGKILL')) }
}

/** Runs work with a daemon in a new home. */
export function withDaemon<T>(work: (daemon: RunningDaemon) => Promise<T>, options?: DaemonOptions): Promise<T> {
  return withFolder(async (folder) => {
    const daemon = await openDaemon(join(folder, 'home'), options)
    try {
      return await work(daemon)
    } catch (error) {
      throw await explainError(daemon, error as Error)
    } finally {
      await daemon.kill()
    }
  })
}

/** Requests fail when the daemon has ended; then its last words are the cause. They may come a little later than the error. */
export async function explainError({ exited }: DaemonProcess, error: Error): Promise<Error> {
  const end = await Promise.race([exited, pause(MAX_EXIT_MS, undefined, { ref: false })])
  if (end === undefined) return error
  const { code, signal, stderr } = end
  return new Error(`The daemon exited (${code ?? signal}): ${stderr.slice(-1_000)}`, { cause: error })
}

/** Resident memory of a process in bytes. Zero where /proc does not exist. */
export function readMemory(pid: number | undefined, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    const [, kilobytes = '0'] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

export const formatMegabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`
