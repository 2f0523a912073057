/** Finds the running daemon, starts one if there is none, and replaces one of an older version. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DaemonRecord, type Paths, readSettings } from '../config.ts'
import { readDaemonSecret } from '../daemon-proof.ts'
import { scaleTimeout, startDeadline } from '../deadline.ts'
import { isNewerVersion, version } from '../version.ts'
import { findDaemonProcess, resolveAdminToken } from './address.ts'
import { UnreachableError } from './errors.ts'
import { findRunningDaemon } from './find-daemon.ts'
import { type Connection, fetchJson } from './request.ts'
import { type StartOptions, startDaemon } from './start-daemon.ts'
import { stopDaemon } from './stop-daemon.ts'
import { VerifyingAgent } from './verify-daemon.ts'

const REPLIES_TIMEOUT_MS = 120_000
const REPLIES_POLL_INTERVAL_MS = 500

export interface EnsureOptions extends Omit<StartOptions, 'options'> {
  /** Start the daemon if it is not running. */
  start: boolean
}

export async function ensureDaemon({ paths, start, root, notify, showProgress }: EnsureOptions): Promise<DaemonRecord> {
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
