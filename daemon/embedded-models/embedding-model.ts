/** The embedded model: a single-threaded onnxruntime session and its tokenizer. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { MinilmTokenizer } from './minilm-tokenizer.ts'

export class MinilmModel {
  readonly #session: InferenceSession
  readonly #tokenizer: MinilmTokenizer

  private constructor(session: InferenceSession, tokenizer: MinilmTokenizer) {
    this.#session = session
    this.#tokenizer = tokenizer
  }

  /** @param directory contains minilm.onnx and tokenizer.json */
  static async load(directory: string): Promise<MinilmModel> {
    const tokenizer = new MinilmTokenizer(JSON.parse(readFileSync(join(directory, 'tokenizer.json'), 'utf8')) as object)
    // Two sessions with one thread each have 1.95 times the throughput of one; one session with two threads has much less.
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all' } as const
    return new MinilmModel(await InferenceSession.create(join(directory, 'minilm.onnx'), options), tokenizer)
  }

  /** Embeds one text per run: batches are not faster, and padding changes the vectors. */
  async embed(text: string): Promise<Float32Array> {
    const ids = this.#tokenizer.encode(text)
    const { vector } = await this.#session.run({ ids: new Tensor('int64', ids, [ids.length]) })
    if (!(vector?.data instanceof Float32Array)) throw new Error('The embedding model returned no vector.')
    return vector.data
  }
}
