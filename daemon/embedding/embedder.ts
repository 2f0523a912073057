/** The interface of embedding models. */
import type { EmbedOptions as EmbeddedModelOptions } from '../inference/embedded-models.ts'

/** Only the embedded model has priorities, turns and progress. */
export interface EmbedOptions extends EmbeddedModelOptions {
  /** Called with the token count of each request that a provider reports. */
  onUsage?: ((tokens: number) => void) | undefined
}

export interface Embedder {
  /** `minilm`, or the id of a model. */
  readonly id: string
  /** Number of texts per call that makes full use of the model. */
  readonly batchSize: number
  getDimensions(): Promise<number>
  /** Returns normalized vectors in the order of the texts. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}
