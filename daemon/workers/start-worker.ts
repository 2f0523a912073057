/** Starts the workers of a pool: threads or processes, with a memory limit. */
import { type ChildProcess, fork } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { resolvePackageFolder } from '../../src/package-folder.ts'
import { MEMORY_ARGUMENT } from './worker-protocol.ts'

/** The code of a worker: JavaScript in the build, TypeScript in a source checkout. */
interface WorkerEntry {
  /** Relative to the folder of the package. */
  built: string
  source: URL
}

/** A thread or process that runs `serveJobs`. */
export interface WorkerHandle {
  memoryMb: number | undefined
  send(message: unknown): void
  listen(onMessage: (message: unknown) => void, onExit: (problem: string, isOutOfMemory: boolean) => void): void
  /** A referenced worker keeps this process alive. */
  setReferenced(isReferenced: boolean): void
  /** Ends the worker also if it is busy. Workers have no state to save. */
  end(): Promise<void>
}

interface ThreadOptions {
  name: string
  /** Limit of the JavaScript heap. Memory of byte arrays and native code is not counted: only a process can limit it. */
  memoryMb: number
}

interface ProcessOptions {
  args?: readonly string[]
  /** Limit of the memory of the whole process. */
  memoryMb?: number
  /** Work for which nobody waits: it leaves most of a busy processor to others. */
  isBackground?: boolean
}

/** Of the limit of a process, the rest is for byte arrays and native code. */
const HEAP_SHARE = 0.75
/** The young generation, which V8 does not count as part of the heap limit, takes three times as much. */
const SEMI_SPACE_SHARE = 1 / 32
/** Of a busy processor, a background process gets a third of the daemon's share. With much less, somebody who waits for it would notice. */
const BACKGROUND_NICENESS = 5
/** What the loader of TypeScript needs in a source checkout, in addition to the limit. */
const LOADER_MB = 128

export function startThread(entry: WorkerEntry, { name, memoryMb }: ThreadOptions): WorkerHandle {
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 }
  const worker = new Worker(getThreadUrl(entry), { name, resourceLimits })
  return {
    memoryMb,
    send: (message) => worker.postMessage(message),
    listen(onMessage, onExit) {
      worker.on('message', onMessage)
      worker.on('error', (error: NodeJS.ErrnoException) => onExit(error.message, error.code === 'ERR_WORKER_OUT_OF_MEMORY'))
      worker.on('exit', (code) => onExit(`it exited with ${code}`, false))
    },
    setReferenced: (isReferenced) => (isReferenced ? worker.ref() : worker.unref()),
    async end() {
      await worker.terminate()
    },
  }
}

export function startProcess(entry: WorkerEntry, { args = [], memoryMb, isBackground = false }: ProcessOptions = {}): WorkerHandle {
  const { file, execArgv } = getProcessEntry(entry)
  const isLimited = memoryMb !== undefined
  const limits = isLimited ? formatLimits(memoryMb) : { args: [], execArgv: [] }
  let child: ChildProcess
  try {
    child = fork(file, [...args, ...limits.args], {
      execArgv: [...limits.execArgv, ...execArgv],
      // Transfers byte arrays as bytes instead of JSON.
      serialization: 'advanced',
      // V8 prints a stack trace when the heap is full.
      stdio: ['ignore', 'ignore', isLimited ? 'ignore' : 'inherit', 'ipc'],
    })
  } catch (error) {
    return createFailedHandle((error as Error).message)
  }
  if (isBackground) lowerPriority(child)
  return {
    memoryMb,
    // Errors are ignored: the exit of the process is handled.
    send: (message) => void child.send(message as object, () => {}),
    listen(onMessage, onExit) {
      child.on('message', onMessage)
      child.on('error', (error) => onExit(error.message, false))
      child.on('exit', (code, signal) => onExit(`it exited with ${signal ?? code}`, isLimited && isOutOfMemory(signal)))
    },
    setReferenced: (isReferenced) => setReferenced(child, isReferenced),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      setReferenced(child, true)
      const exit = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** For a process that the system cannot start, as when memory is short. */
function createFailedHandle(problem: string): WorkerHandle {
  return {
    memoryMb: undefined,
    send() {},
    listen: (_, onExit) => void setImmediate(onExit, problem, false),
    setReferenced() {},
    end: () => Promise.resolve(),
  }
}

/** Before the process starts threads, which inherit it. */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return // its error is handled
  try {
    setPriority(pid, Math.min(getPriority() + BACKGROUND_NICENESS, constants.priority.PRIORITY_LOW))
  } catch {
    // It has ended, or the system does not allow it.
  }
}

function formatLimits(memoryMb: number): { args: string[]; execArgv: string[] } {
  const loaderMb = isBuilt() ? 0 : LOADER_MB
  const heapMb = Math.round(memoryMb * HEAP_SHARE + loaderMb / 2)
  const semiSpaceMb = Math.max(1, Math.round(memoryMb * SEMI_SPACE_SHARE))
  return {
    args: [`${MEMORY_ARGUMENT}${memoryMb + loaderMb}`],
    execArgv: [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${semiSpaceMb}`],
  }
}

/** In a source checkout the process needs a loader of TypeScript. */
export function getProcessEntry({ built, source }: WorkerEntry): { file: string; execArgv: string[] } {
  if (isBuilt()) return { file: fileURLToPath(new URL(built, resolvePackageFolder())), execArgv: [] }
  return { file: fileURLToPath(source), execArgv: ['--import', import.meta.resolve('tsx')] }
}

/** In a source checkout each thread registers tsx itself, because Node 20 does not pass loaders on. */
export function getThreadUrl({ built, source }: WorkerEntry): URL {
  if (isBuilt()) return new URL(built, resolvePackageFolder())
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const worker = JSON.stringify(source.href)
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}

/** V8 aborts the process when its heap is full; `serveJobs` or the system kills it when it is too large. */
const isOutOfMemory = (signal: NodeJS.Signals | null) => signal === 'SIGABRT' || signal === 'SIGKILL'

const isBuilt = () => !import.meta.url.endsWith('.ts')

function setReferenced(child: ChildProcess, isReferenced: boolean): void {
  if (isReferenced) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}
