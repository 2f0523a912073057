/** A process that runs the embedded models, tasks of queries first. It ends with the daemon. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { EmbeddingModel } from './embedding-model.ts'
import { MinilmTokenizer } from './minilm-tokenizer.ts'
import { ReadingModel } from './reading-model.ts'
import type { WorkerMessage, WorkerRequest, WorkerResult, WorkerTask } from './worker-protocol.ts'

class RequestQueue {
  readonly #runTask: (task: WorkerTask) => Promise<WorkerResult>
  readonly #urgent: WorkerRequest[] = []
  readonly #others: WorkerRequest[] = []
  #isBusy = false

  constructor(runTask: (task: WorkerTask) => Promise<WorkerResult>) {
    this.#runTask = runTask
  }

  async add(request: WorkerRequest): Promise<void> {
    const queue = request.isUrgent ? this.#urgent : this.#others
    queue.push(request)
    if (this.#isBusy) return
    this.#isBusy = true
    for (let next = this.#next(); next; next = this.#next()) {
      await this.#handle(next)
      // A run blocks the event loop; this reads the requests that arrived meanwhile, which may be queries.
      await yieldToEventLoop()
    }
    this.#isBusy = false
  }

  #next(): WorkerRequest | undefined {
    return this.#urgent.shift() ?? this.#others.shift()
  }

  async #handle({ id, ...task }: WorkerRequest): Promise<void> {
    try {
      send({ kind: 'result', id, result: await this.#runTask(task) })
    } catch (error) {
      send({ kind: 'error', id, error: (error as Error).message })
    }
  }
}

function send(message: WorkerMessage): void {
  process.send?.(message, undefined, undefined, (error) => {
    if (error) process.exit()
  })
}

process.on('disconnect', () => process.exit())
// Ctrl-C reaches every process of a terminal; the daemon still needs its results then, and ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
try {
  const directory = process.argv[2] ?? ''
  const tokenizer = MinilmTokenizer.load(directory)
  const embeddingModel = await EmbeddingModel.load(directory, tokenizer)
  // Loaded with the first question, because most workers only embed.
  let readingModel: Promise<ReadingModel> | undefined
  const queue = new RequestQueue(async ({ text, question }) => {
    if (question === undefined) return embeddingModel.embed(text)
    readingModel ??= ReadingModel.load(directory, tokenizer)
    return (await readingModel).read(question, text)
  })
  process.on('message', (request: WorkerRequest) => void queue.add(request))
  send({ kind: 'ready' })
} catch (error) {
  send({ kind: 'broken', error: (error as Error).message })
}
