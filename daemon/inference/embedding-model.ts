import { join } from 'node:path'
import type { MinilmTokenizer } from './minilm-tokenizer.ts'
import { openModel, type RunModel } from './onnx-session.ts'

export class EmbeddingModel {
  readonly #run: RunModel
  readonly #tokenizer: MinilmTokenizer

  private constructor(run: RunModel, tokenizer: MinilmTokenizer) {
    this.#run = run
    this.#tokenizer = tokenizer
  }

  static async load(directory: string, tokenizer: MinilmTokenizer): Promise<EmbeddingModel> {
    return new EmbeddingModel(await openModel(join(directory, 'minilm.onnx')), tokenizer)
  }

  embed(text: string): Promise<Float32Array> {
    return this.#run(this.#tokenizer.encode(text), 'vector')
  }
}
