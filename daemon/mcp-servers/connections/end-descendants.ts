/**
 * Ends the processes that a program has left behind, also those that left its process group. They are recognized by a variable that
 * processes inherit, as Jenkins does. Linux only: other systems do not show the variables of a process.
 */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

const VARIABLE = 'CADRE_MCP_PROCESS'
/** A process may start another one before it is ended. */
const MAX_ROUNDS = 10

/** The variable by which the descendants of one program are found. */
export const createProcessMark = (): Record<string, string> => ({ [VARIABLE]: randomUUID() })

export async function endDescendants(mark: Record<string, string>): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const pids = await findMarkedProcesses(`${VARIABLE}=${mark[VARIABLE]}`)
    if (pids.length === 0) return
    for (const pid of pids) endProcess(pid)
  }
}

async function findMarkedProcesses(entry: string): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Empty for a process that has ended. Other users' cannot be read.
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      return environment.split('\0').includes(entry) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
