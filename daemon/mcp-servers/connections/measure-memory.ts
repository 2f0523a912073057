/** Measures the memory of a process and its child processes. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const PAGE_BYTES = 4_096
const MAX_PROCESSES = 500

/** Returns bytes; 0 if it cannot be measured. */
export async function measureMemory(pid: number): Promise<number> {
  if (process.platform === 'linux') return measureLinux(pid)
  return process.platform === 'win32' ? 0 : measureWithPs(pid)
}

async function measureLinux(root: number): Promise<number> {
  let bytes = 0
  const queue = [root]
  for (let index = 0; index < queue.length && index < MAX_PROCESSES; index++) {
    const pid = queue[index]
    const [memory, children] = await Promise.all([readProcFile(`/proc/${pid}/statm`), readProcFile(`/proc/${pid}/task/${pid}/children`)])
    bytes += Number(memory.split(' ')[1] ?? 0) * PAGE_BYTES
    queue.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return bytes
}

/** A process that has ended uses no memory. */
const readProcFile = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

async function measureWithPs(root: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=']).catch(() => ({ stdout: '' }))
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number])
  const family = new Set([root])
  // Children usually follow their parents in the list.
  for (const [pid, parent] of rows) if (family.has(parent)) family.add(pid)
  return rows.reduce((sum, [pid, , kilobytes]) => sum + (family.has(pid) ? kilobytes * 1024 : 0), 0)
}
