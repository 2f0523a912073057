/** A thread with one session of the embedded model: questions in, vectors out, queries before the rest. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import type { Message, Question } from './protocol.ts'
import { TextTokens } from './tokens.ts'

class Model {
  readonly #session: InferenceSession
  readonly #tokens: TextTokens

  private constructor(session: InferenceSession, tokens: TextTokens) {
    this.#session = session
    this.#tokens = tokens
  }

  static async load(directory: string): Promise<Model> {
    const tokens = new TextTokens(JSON.parse(readFileSync(join(directory, 'tokenizer.json'), 'utf8')) as object)
    // Two sessions of one thread do 1.95 times the work of one; one session of two threads does much less.
    const session = await InferenceSession.create(join(directory, 'minilm.onnx'), {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
    })
    return new Model(session, tokens)
  }

  /** One text a run, unpadded: a batch gains nothing, and padding changes the vectors. */
  async vector(text: string): Promise<Float32Array> {
    const ids = this.#tokens.ids(text)
    const { vector } = await this.#session.run({ ids: new Tensor('int64', ids, [ids.length]) })
    if (!(vector?.data instanceof Float32Array)) throw new Error('The embedding model answered without a vector.')
    // A copy of its own, since the buffer it came in belongs to onnxruntime and cannot be given to another thread.
    return vector.data.slice()
  }
}

class Answerer {
  readonly #port: MessagePort
  readonly #model: Model
  readonly #urgent: Question[] = []
  readonly #others: Question[] = []
  #busy = false

  constructor(port: MessagePort, model: Model) {
    this.#port = port
    this.#model = model
  }

  async take(question: Question): Promise<void> {
    this.#sort(question)
    if (this.#busy) return
    this.#busy = true
    for (let next = this.#next(); next; next = this.#next()) await this.#answer(next)
    this.#busy = false
  }

  /** Looks at what came during the last run, which blocked this thread, so that a query does not wait behind a text that came before it. */
  #next(): Question | undefined {
    for (let found = receiveMessageOnPort(this.#port); found; found = receiveMessageOnPort(this.#port)) this.#sort(found.message as Question)
    return this.#urgent.shift() ?? this.#others.shift()
  }

  #sort(question: Question): void {
    const queue = question.urgent ? this.#urgent : this.#others
    queue.push(question)
  }

  async #answer({ number, text }: Question): Promise<void> {
    try {
      const vector = await this.#model.vector(text)
      this.#port.postMessage({ kind: 'vector', number, vector } satisfies Message, [vector.buffer as ArrayBuffer])
    } catch (error) {
      this.#port.postMessage({ kind: 'problem', number, problem: (error as Error).message } satisfies Message)
    }
  }
}

if (!parentPort) throw new Error('This file runs in a worker thread.')
const answerer = new Answerer(parentPort, await Model.load((workerData as { directory: string }).directory))
parentPort.on('message', (question: Question) => void answerer.take(question))
parentPort.postMessage({ kind: 'ready' } satisfies Message)
