/** Measures the memory of a process and its child processes. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const MAX_PROCESSES = 500

/** Returns bytes; 0 if it cannot be measured. */
export async function measureMemory(pid: number): Promise<number> {
  if (process.platform === 'linux') return measureLinux(pid)
  return process.platform === 'win32' ? 0 : measureWithPs(pid)
}

async function measureLinux(root: number): Promise<number> {
  let kilobytes = 0
  const queue = [root]
  for (let index = 0; index < queue.length && index < MAX_PROCESSES; index++) {
    const pid = queue[index] as number
    const [status, children] = await Promise.all([readProcFile(`/proc/${pid}/status`), listChildren(pid)])
    // Not from statm, which counts pages: their size depends on the machine.
    kilobytes += Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0)
    queue.push(...children)
  }
  return kilobytes * 1024
}

/** The kernel lists the children of each thread, and programs such as uvx start theirs in another thread than the first. */
async function listChildren(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => readProcFile(`/proc/${pid}/task/${thread}/children`)))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
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
