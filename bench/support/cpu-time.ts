/** CPU time of a process, which other load on the machine hardly changes. */
import { readFileSync } from 'node:fs'

/** Kernel ticks of /proc/PID/stat. */
const TICKS_PER_SECOND = 100

/** Returns the user and system time of a process in seconds. */
export function readCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
