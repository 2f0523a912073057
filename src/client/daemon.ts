/** Connects to the service, replaces a daemon of an older version and stops the daemon. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DaemonRecord, type Paths, readSettings } from '../config.ts'
import { readDaemonSecret } from '../daemon-proof.ts'
import { scaleTimeout, startDeadline } from '../deadline.ts'
import { isNewerVersion, version } from '../version.ts'
import { findDaemonProcess, isLoopback, isProcessAlive, resolveAddress, resolveAdminToken, resolveCredentials } from './address.ts'
import { UnreachableError } from './errors.ts'
import { fetchDaemonHealth, fetchHealth, findRunningDaemon } from './find-daemon.ts'
import { type Connection, fetchJson } from './request.ts'
import { type StartOptions, startDaemon } from './start-daemon.ts'
import { VerifyingAgent } from './verify-daemon.ts'

const STOP_TIMEOUT_MS = 15_000
const EXIT_TIMEOUT_MS = 1_000
const POLL_INTERVAL_MS = 50
const REPLIES_TIMEOUT_MS = 120_000
const REPLIES_POLL_INTERVAL_MS = 500

export interface ConnectOptions extends Omit<StartOptions, 'options'> {
  /** The profile of the --profile flag. */
  profile?: string | undefined
  /** Start the daemon if it is not running. */
  start: boolean
  announceWait?: Connection['announceWait']
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
  if (readDaemonSecret(paths, running.url) !== undefined) await waitForReplies(paths, running, notify)
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
    const { data } = (await fetchJson(connection, '/api/status', 5_000)) as { data?: { queues?: Record<string, number> } }
    return data?.queues?.replies ?? 0
  } catch {
    return 0 // it is stopping
  }
}

/** Stops the daemon of this home and waits for its process to exit. Returns false if none is running. */
export async function stopDaemon(paths: Paths): Promise<boolean> {
  const record = findDaemonProcess(paths)
  if (!record) return false
  // The pid may have been reused: stop only the daemon.
  if (!(await fetchDaemonHealth(paths, record))) {
    // A killed daemon closes its connections a moment before its process is gone.
    if (await waitForExit(record.pid, EXIT_TIMEOUT_MS)) return false
    throw new UnreachableError(`Process ${record.pid} does not respond at ${record.url}, so it may not be the daemon.`, {
      hint: `Check the process (ps -p ${record.pid}), then stop it or delete ${paths.daemon}.`,
    })
  }
  process.kill(record.pid, 'SIGTERM')
  if (await waitForExit(record.pid, STOP_TIMEOUT_MS)) return true
  throw new UnreachableError(`The daemon (process ${record.pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} seconds.`, {
    hint: 'To see its log: cadre daemon logs',
  })
}

/** Returns false if the process still runs after the timeout. */
async function waitForExit(pid: number, timeout: number): Promise<boolean> {
  const deadline = startDeadline(scaleTimeout(timeout)).unref()
  while (isProcessAlive(pid)) {
    if (deadline.hasPassed) return false
    await sleep(POLL_INTERVAL_MS)
  }
  return true
}
