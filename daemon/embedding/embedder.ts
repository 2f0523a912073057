/** The interface of embedding models. */

export interface EmbedOptions {
  signal?: AbortSignal | undefined
  /** Queries are embedded before texts that are being indexed. */
  priority?: 'query' | 'index' | undefined
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
