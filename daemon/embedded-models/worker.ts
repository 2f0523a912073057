/** A process that embeds texts with the embedded model, queries first. It ends with the daemon. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { MinilmModel } from './minilm-model.ts'
import type { WorkerMessage, WorkerRequest } from './worker-protocol.ts'

class RequestQueue {
  readonly #model: MinilmModel
  readonly #urgent: WorkerRequest[] = []
  readonly #others: WorkerRequest[] = []
  #isBusy = false

  constructor(model: MinilmModel) {
    this.#model = model
  }

  async add(request: WorkerRequest): Promise<void> {
    const queue = request.isUrgent ? this.#urgent : this.#others
    queue.push(request)
    if (this.#isBusy) return
    this.#isBusy = true
    for (let next = this.#next(); next; next = this.#next()) {
      await this.#embed(next)
      // A run blocks the event loop; this reads the requests that arrived meanwhile, which may be queries.
      await yieldToEventLoop()
    }
    this.#isBusy = false
  }

  #next(): WorkerRequest | undefined {
    return this.#urgent.shift() ?? this.#others.shift()
  }

  async #embed({ id, text }: WorkerRequest): Promise<void> {
    try {
      send({ kind: 'vector', id, vector: await this.#model.embed(text) })
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
// Ctrl-C reaches every process of a terminal; the daemon still needs its vectors then, and ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
try {
  const queue = new RequestQueue(await MinilmModel.load(process.argv[2] ?? ''))
  process.on('message', (request: WorkerRequest) => void queue.add(request))
  send({ kind: 'ready' })
} catch (error) {
  send({ kind: 'broken', error: (error as Error).message })
}
