/** What makes vectors of texts, whoever runs the model. */

export interface EmbedOptions {
  signal?: AbortSignal | undefined
  /** A query has somebody waiting for it and goes before texts that are being indexed. */
  priority?: 'query' | 'index' | undefined
  /** Told how many of the texts are done, by those who do them one by one. */
  onProgress?: ((done: number) => void) | undefined
  /** Told how many tokens a provider counted, request by request, by those that count. */
  onUsage?: ((tokens: number) => void) | undefined
}

export interface Embedder {
  /** `minilm`, or the id of the model's record. */
  readonly id: string
  /** Texts at once that keep it busy. */
  readonly batchSize: number
  getDimensions(): Promise<number>
  /** Normalised vectors, in the order of the texts. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
}
