/** Opens ONNX models for one thread. */
import { InferenceSession, Tensor } from 'onnxruntime-node'

export class OnnxSession {
  readonly #session: InferenceSession

  private constructor(session: InferenceSession) {
    this.#session = session
  }

  static async open(path: string): Promise<OnnxSession> {
    // Two sessions with one thread each have 1.95 times the throughput of one; one session with two threads has much less.
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all' } as const
    return new OnnxSession(await InferenceSession.create(path, options))
  }

  /** Runs the model on one text: batches are not faster, and padding changes the results. */
  async run(ids: BigInt64Array, output: string): Promise<Float32Array> {
    const data = (await this.#session.run({ ids: new Tensor('int64', ids, [ids.length]) }))[output]?.data
    if (!(data instanceof Float32Array)) throw new Error(`The model has no output "${output}".`)
    return data
  }
}
