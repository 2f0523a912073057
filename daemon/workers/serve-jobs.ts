/** The worker's side of a pool: does jobs one at a time, those with a high priority first. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { parentPort, Worker } from 'node:worker_threads'
import { FairJobQueue } from './fair-job-queue.ts'
import { MEMORY_ARGUMENT, type PoolMessage, type Priority, type WorkerMessage } from './worker-protocol.ts'

/** Sends a part of the result. Resolves when the pool wants the next one. */
type SendPart<Part> = (part: Part) => Promise<void>

type HandleJob<Task, Result, Part> = (task: Task, sendPart: SendPart<Part>) => Result | Promise<Result>

interface Connection {
  send(message: WorkerMessage<unknown, unknown>): void
  isTooLarge(): boolean
}

const MEMORY_CHECK_INTERVAL_MS = 50

/**
 * Runs in a thread or a process; a process ends with the one that started it.
 * @param load loads what all jobs need. If it throws, the pool fails its jobs with that message.
 */
export async function serveJobs<Task, Result, Part = never>(
  load: () => HandleJob<Task, Result, Part> | Promise<HandleJob<Task, Result, Part>>,
): Promise<void> {
  const jobs = new FairJobQueue<{ id: number; task: Task; priority: Priority; owner: undefined }>()
  let isBusy = false
  let requestNextPart = () => {}
  let handle: HandleJob<Task, Result, Part>

  const doJob = async (id: number, task: Task) => {
    const sendPart: SendPart<Part> = (part) =>
      new Promise((resolve) => {
        requestNextPart = resolve
        send({ kind: 'part', id, part })
      })
    try {
      const result = await handle(task, sendPart)
      send({ kind: 'result', id, result, isTooLarge: isTooLarge() })
    } catch (error) {
      send({ kind: 'error', id, error: error instanceof Error ? error.message : String(error), isTooLarge: isTooLarge() })
    }
  }

  const doJobs = async () => {
    if (isBusy) return
    isBusy = true
    for (let job = jobs.take(); job; job = jobs.take()) {
      await doJob(job.id, job.task)
      // A job may block the event loop; this reads the messages that arrived meanwhile, which may be more urgent.
      await yieldToEventLoop()
    }
    isBusy = false
  }

  const { send, isTooLarge } = connect((message: PoolMessage<Task>) => {
    if (message.kind === 'next') return requestNextPart()
    jobs.add({ id: message.id, task: message.task, priority: message.priority, owner: undefined })
    void doJobs()
  })
  try {
    handle = await load()
    send({ kind: 'ready' })
  } catch (error) {
    send({ kind: 'broken', error: (error as Error).message })
  }
}

function connect<Task>(onMessage: (message: PoolMessage<Task>) => void): Connection {
  if (parentPort) {
    const port = parentPort
    port.on('message', onMessage)
    return { send: (message) => port.postMessage(message), isTooLarge: () => false }
  }
  process.on('message', onMessage)
  process.on('disconnect', () => process.exit())
  // Ctrl-C reaches every process of a terminal; the daemon still needs its results then, and ends this process itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  const memoryLimit = process.argv.find((argument) => argument.startsWith(MEMORY_ARGUMENT))
  return {
    send(message) {
      process.send?.(message, undefined, undefined, (error) => {
        if (error) process.exit()
      })
    },
    isTooLarge: memoryLimit === undefined ? () => false : limitMemory(Number(memoryLimit.slice(MEMORY_ARGUMENT.length))),
  }
}

/** Kills this process when it exceeds the limit. A thread checks it, because a job may block the event loop. Returns a check. */
function limitMemory(megabytes: number): () => boolean {
  const maxBytes = megabytes * 1024 * 1024
  const check = `if (process.memoryUsage.rss() > ${maxBytes}) process.kill(process.pid, 'SIGKILL')`
  new Worker(`setInterval(() => { ${check} }, ${MEMORY_CHECK_INTERVAL_MS})`, { eval: true, execArgv: [] }).unref()
  return () => process.memoryUsage.rss() > maxBytes
}
