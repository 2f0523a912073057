/** The interface of embedding models. */
import type { Priority } from '../workers/worker-protocol.ts'

export interface EmbedOptions {
  signal?: AbortSignal | undefined
  /** `high` for queries. Default: `normal`, for texts that are being indexed. Only used by the embedded model. */
  priority?: Priority | undefined
  /** Callers with the same priority take turns. Default: each call is a caller of its own. Only used by the embedded model. */
  caller?: unknown
  /** Called with the number of embedded texts; only by the embedded model. */
  onProgress?: ((done: number) => void) | undefined
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
