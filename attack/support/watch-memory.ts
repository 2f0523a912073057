/** Measures the memory of a daemon and the processes that it started, during an attack. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

const INTERVAL_MS = 100

export interface MemoryPeak {
  /** Highest memory of the daemon with all its processes at a time. What they share counts once. */
  bytes: number
  /** Each of them then, the daemon first. */
  processes: { name: string; bytes: number }[]
}

/** Measures until it is stopped. Zero where /proc does not exist. */
export function watchMemory(pid: number | undefined): { stop(): MemoryPeak } {
  let peak: MemoryPeak = { bytes: 0, processes: [] }
  const measure = () => {
    const processes = [pid ?? 0, ...listDescendants(pid ?? 0)].map((id) => ({ name: readName(id), bytes: readShare(id) }))
    const bytes = processes.reduce((sum, each) => sum + each.bytes, 0)
    if (bytes > peak.bytes) peak = { bytes, processes }
  }
  const timer = setInterval(measure, INTERVAL_MS)
  return {
    stop() {
      clearInterval(timer)
      measure()
      return peak
    },
  }
}

/** Memory that processes share, such as the code of Node, counts in equal parts for each of them. */
function readShare(pid: number): number {
  const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(readProcessFile(pid, 'smaps_rollup')) ?? []
  return Number(kilobytes) * 1024
}

/** The script of a process of Node, such as `table-worker`, or its program. */
function readName(pid: number): string {
  const words = readProcessFile(pid, 'cmdline').split('\0')
  return basename(words.find((word) => word.endsWith('.js')) ?? words[0] ?? '').replace(/\.js$/, '')
}

export function listDescendants(pid: number): number[] {
  return listThreads(pid).flatMap((thread) => {
    const children = readProcessFile(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number)
    return children.flatMap((child) => [child, ...listDescendants(child)])
  })
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return [] // it has ended
  }
}

export function readProcessFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return '' // it has ended
  }
}
