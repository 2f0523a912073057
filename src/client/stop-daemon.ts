/** Stops the daemon. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Paths } from '../config.ts'
import { scaleTimeout, startDeadline } from '../deadline.ts'
import { findDaemonProcess, isProcessAlive } from './address.ts'
import { UnreachableError } from './errors.ts'
import { fetchDaemonHealth } from './find-daemon.ts'

const STOP_TIMEOUT_MS = 15_000
const EXIT_TIMEOUT_MS = 1_000
const POLL_INTERVAL_MS = 50

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
