/** The embedded model itself: one single-threaded session of onnxruntime and the tokenizer that goes with it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { MinilmTokenizer } from './minilm-tokenizer.ts'

export class MinilmModel {
  readonly #session: InferenceSession
  readonly #tokens: MinilmTokenizer

  private constructor(session: InferenceSession, tokens: MinilmTokenizer) {
    this.#session = session
    this.#tokens = tokens
  }

  /** @param directory where minilm.onnx and tokenizer.json are */
  static async load(directory: string): Promise<MinilmModel> {
    const tokens = new MinilmTokenizer(JSON.parse(readFileSync(join(directory, 'tokenizer.json'), 'utf8')) as object)
    // Two sessions of one thread do 1.95 times the work of one; one session of two threads does much less.
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all' } as const
    return new MinilmModel(await InferenceSession.create(join(directory, 'minilm.onnx'), options), tokens)
  }

  /** One text a run, unpadded: a batch gains nothing, and padding changes the vectors. */
  async embed(text: string): Promise<Float32Array> {
    const ids = this.#tokens.encode(text)
    const { vector } = await this.#session.run({ ids: new Tensor('int64', ids, [ids.length]) })
    if (!(vector?.data instanceof Float32Array)) throw new Error('The embedding model answered without a vector.')
    return vector.data
  }
}
