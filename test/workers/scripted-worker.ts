/** A worker for tests that obeys its tasks. */
import { threadId } from 'node:worker_threads'
import { serveJobs } from '../../daemon/workers/serve-jobs.ts'

export type ScriptedTask =
  | { do: 'identify' }
  /** Blocks the event loop until the first value of the gate is set, as a model does, and sets the second. Without a gate, forever. */
  | { do: 'block'; gate?: Int32Array<SharedArrayBuffer> }
  | { do: 'block for'; milliseconds: number }
  | { do: 'exit'; code: number }
  | { do: 'fail'; message: string }
  | { do: 'allocate heap' }
  | { do: 'allocate bytes' }
  /** Keeps memory until the process has this size. */
  | { do: 'grow'; megabytes: number }
  | { do: 'send parts'; count: number }

export interface ScriptedResult {
  /** Process ID and thread ID. */
  worker: string
  /** Number of the job in its worker. */
  job: number
}

const MB = 1024 * 1024
const start = process.argv[2]
if (start === 'exit') process.exit(3)
let jobs = 0
const kept: Buffer[] = []

await serveJobs<ScriptedTask, ScriptedResult, number>(() => {
  if (start === 'fail') throw new Error('no such model')
  return async (task, sendPart) => {
    const job = ++jobs
    if (task.do === 'block') block(task.gate)
    if (task.do === 'block for') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task.milliseconds)
    if (task.do === 'exit') process.exit(task.code)
    if (task.do === 'fail') throw new Error(task.message)
    if (task.do === 'grow') while (process.memoryUsage.rss() < task.megabytes * MB) kept.push(Buffer.alloc(MB, 1))
    if (task.do.startsWith('allocate')) exhaustMemory(task.do === 'allocate bytes')
    if (task.do === 'send parts') for (let part = 0; part < task.count; part++) await sendPart(part)
    return { worker: `${process.pid} ${threadId}`, job }
  }
})

function block(gate = new Int32Array(new SharedArrayBuffer(8))): void {
  Atomics.store(gate, 1, 1)
  Atomics.wait(gate, 0, 0)
}

/** Does not return. */
function exhaustMemory(isBytes: boolean): void {
  for (const kept: unknown[] = []; ; ) kept.push(isBytes ? Buffer.alloc(MB, 1) : Array.from({ length: 10_000 }, (_, index) => ({ index })))
}
