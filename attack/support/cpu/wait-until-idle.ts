/** Waits until a daemon and its processes have nothing to do. */
import { setTimeout as pause } from 'node:timers/promises'
import { listDescendants, readProcessFile } from '../watch-memory.ts'

const INTERVAL_MS = 500
/** Of one core. */
const MAX_SHARE = 0.05
const TIMEOUT_MS = 120_000
/** In which /proc counts CPU time. */
const TICK_MS = 10

/** Throws if they are still busy after two minutes. Resolves at once where /proc does not exist. */
export async function waitUntilIdle(pid: number): Promise<void> {
  const startedAt = performance.now()
  for (let before = readCpuMs(pid); ; ) {
    const checkedAt = performance.now()
    await pause(INTERVAL_MS)
    const after = readCpuMs(pid)
    const used = [...after].reduce((sum, [process, ms]) => sum + ms - (before.get(process) ?? 0), 0)
    if (used <= (performance.now() - checkedAt) * MAX_SHARE) return
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error(`The daemon is still busy after ${TIMEOUT_MS / 1000} s.`)
    before = after
  }
}

/** CPU time of each process that runs now. */
function readCpuMs(pid: number): Map<number, number> {
  const measure = (process: number): [number, number] => {
    // The name of the program may contain spaces.
    const fields = readProcessFile(process, 'stat').split(') ').at(-1)?.split(' ') ?? []
    return [process, (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS]
  }
  return new Map([pid, ...listDescendants(pid)].map(measure))
}
