import { join } from 'node:path'
import type { MinilmTokenizer } from './minilm-tokenizer.ts'
import { OnnxSession } from './onnx-session.ts'

export class EmbeddingModel {
  readonly #session: OnnxSession
  readonly #tokenizer: MinilmTokenizer

  private constructor(session: OnnxSession, tokenizer: MinilmTokenizer) {
    this.#session = session
    this.#tokenizer = tokenizer
  }

  static async load(directory: string, tokenizer: MinilmTokenizer): Promise<EmbeddingModel> {
    return new EmbeddingModel(await OnnxSession.open(join(directory, 'minilm.onnx')), tokenizer)
  }

  embed(text: string): Promise<Float32Array> {
    return this.#session.run(this.#tokenizer.encode(text), 'vector')
  }
}
