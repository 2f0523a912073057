/** A process with one session of the embedded model: questions in, vectors out, queries before the rest. It ends with the daemon that started it. */
import { setImmediate as turn } from 'node:timers/promises'
import { MinilmModel } from './minilm-model.ts'
import type { WorkerMessage, WorkerRequest } from './worker-protocol.ts'

class Answerer {
  readonly #model: MinilmModel
  readonly #urgent: WorkerRequest[] = []
  readonly #others: WorkerRequest[] = []
  #busy = false

  constructor(model: MinilmModel) {
    this.#model = model
  }

  async take(question: WorkerRequest): Promise<void> {
    const queue = question.isUrgent ? this.#urgent : this.#others
    queue.push(question)
    if (this.#busy) return
    this.#busy = true
    for (let next = this.#next(); next; next = this.#next()) {
      await this.#answer(next)
      // A run blocks this process: what came meanwhile is read now, so that a query does not wait behind a text that came before it.
      await turn()
    }
    this.#busy = false
  }

  #next(): WorkerRequest | undefined {
    return this.#urgent.shift() ?? this.#others.shift()
  }

  async #answer({ number, text }: WorkerRequest): Promise<void> {
    try {
      tell({ kind: 'vector', number, vector: await this.#model.embed(text) })
    } catch (error) {
      tell({ kind: 'problem', number, problem: (error as Error).message })
    }
  }
}

/** Whoever does not listen any more is gone, and this process was only there for them. */
function tell(message: WorkerMessage): void {
  process.send?.(message, undefined, undefined, (error) => {
    if (error) process.exit()
  })
}

process.on('disconnect', () => process.exit())
// Ctrl-C reaches every process of a terminal; the daemon still wants its answers then, and ends this one itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
try {
  const answerer = new Answerer(await MinilmModel.load(process.argv[2] ?? ''))
  process.on('message', (question: WorkerRequest) => void answerer.take(question))
  tell({ kind: 'ready' })
} catch (error) {
  tell({ kind: 'broken', problem: (error as Error).message })
}
