import type { ChildProcess } from 'node:child_process'

/** Whether a child process that is started as `detached` leads a group, with which its own children are ended. */
export const HAS_PROCESS_GROUPS = process.platform !== 'win32'

/** Sends a signal to a child process and the children it started. One that has ended gets none. */
export function signalProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (HAS_PROCESS_GROUPS) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch (error) {
    // macOS responds with EPERM if all processes of the group have ended but were not waited for.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
