/** Makes the machine slow for a test run: all processes stand still at random moments, or share one core with busy loops. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from './harness/create-random.ts'

const RUN_SECONDS = { min: 5, max: 40 }
const STALL_SECONDS = { min: 5, max: 30 }
const BUSY_LOOPS = 4
/** Ends with the runner, even if the runner is killed: its standard input ends then. */
const BUSY_LOOP = `
process.stdin.resume().on('end', () => process.exit())
const spin = () => {
  for (const end = Date.now() + 100; Date.now() < end; );
  setImmediate(spin)
}
spin()`

export const SLOWDOWN_OPTIONS = { stalls: { type: 'boolean' }, seed: { type: 'string' }, 'one-core': { type: 'boolean' } } as const

interface Process {
  pid: number
  parent: number
  isStopped: boolean
}

/**
 * Returns a function that ends it.
 * @param folder the folder of the temporary files. Daemons and tmux servers are not descendants of the runner, but use it.
 */
export function startSlowdown(options: { stalls?: boolean; seed?: string; 'one-core'?: boolean }, folder: string): () => void {
  const endStalls = options.stalls ? startStalls(Number(options.seed ?? randomInt(1_000_000)), folder) : undefined
  const endLoops = options['one-core'] ? occupyCore() : undefined
  return () => {
    endStalls?.()
    endLoops?.()
  }
}

/** Stops and continues all processes of the run. The seed determines when. */
function startStalls(seed: number, folder: string): () => void {
  console.log(`stalls of 5 to 30 s, seed ${seed}`)
  const random = createRandom(seed)
  const pick = ({ min, max }: { min: number; max: number }) => 1000 * (min + random() * (max - min))
  const ending = new AbortController()
  const stall = async () => {
    while (!ending.signal.aborted) {
      await sleep(pick(RUN_SECONDS), undefined, { signal: ending.signal })
      const stopped = stopProcesses(folder)
      await sleep(pick(STALL_SECONDS), undefined, { signal: ending.signal }).finally(() => continueProcesses(stopped))
    }
  }
  stall().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
  return () => ending.abort()
}

/** Stops parents before their children: tmux continues the stopped process of a pane, and shells report it. */
function stopProcesses(folder: string): number[] {
  const stopped: number[] = []
  // Repeated, because processes may start others meanwhile.
  for (let running = listProcesses(folder); running.length > 0; running = listProcesses(folder)) {
    for (const { pid } of running) {
      signalProcess(pid, 'SIGSTOP')
      if (!stopped.includes(pid)) stopped.push(pid)
    }
  }
  return stopped
}

function continueProcesses(stopped: readonly number[]): void {
  for (const pid of [...stopped].reverse()) signalProcess(pid, 'SIGCONT')
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Returns the processes of the run that are not stopped, parents first. Reads Linux's process table. */
function listProcesses(folder: string): Process[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
  const found = new Map<number, Process>()
  const collect = (candidates: readonly Process[]) => {
    for (const each of candidates) {
      if (each.pid === process.pid || found.has(each.pid)) continue
      found.set(each.pid, each)
      collect(all.filter(({ parent }) => parent === each.pid))
    }
  }
  const users = all.filter(({ pid }) => usesFolder(pid, folder))
  // Identifiers of processes start again after the largest, so a child can have a smaller one than its parent.
  collect(users.filter(({ parent }) => !users.some(({ pid }) => pid === parent)))
  return [...found.values()].filter(({ isStopped }) => !isStopped)
}

function readProcess(pid: number): Process | undefined {
  try {
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { pid, parent: Number(parent), isStopped: 'TtZX'.includes(state) }
  } catch {
    return undefined // it has ended
  }
}

function usesFolder(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder)
  } catch {
    return false // it has ended, or belongs to another user
  }
}

/** Pins this process and all that it starts to one core, and keeps the core busy. */
function occupyCore(): () => void {
  const { status, stderr } = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '0', String(process.pid)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`--one-core needs taskset (Linux): ${stderr}`)
  console.log(`one core, shared with ${BUSY_LOOPS} busy loops`)
  const loops: ChildProcess[] = Array.from({ length: BUSY_LOOPS }, () =>
    spawn(process.execPath, ['-e', BUSY_LOOP], { stdio: ['pipe', 'ignore', 'inherit'] }),
  )
  return () => {
    for (const loop of loops) loop.kill()
  }
}
