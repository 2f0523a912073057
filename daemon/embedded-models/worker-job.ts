/** The texts of one embed call and their vectors so far. */

export class EmbeddingJob {
  readonly texts: readonly string[]
  readonly isUrgent: boolean
  readonly result: Promise<Float32Array[]>
  readonly #vectors: Float32Array[]
  readonly #onProgress: ((done: number) => void) | undefined
  #taken = 0
  #done = 0
  #resolve: (vectors: Float32Array[]) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(texts: readonly string[], isUrgent: boolean, onProgress?: (done: number) => void) {
    this.#onProgress = onProgress
    this.texts = texts
    this.isUrgent = isUrgent
    this.#vectors = new Array<Float32Array>(texts.length)
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Number of texts without a vector. */
  get remaining(): number {
    return this.texts.length - this.#done
  }

  get hasNext(): boolean {
    return this.#taken < this.texts.length
  }

  /** Returns the index of the next text to embed. */
  takeNext(): number {
    return this.#taken++
  }

  setVector(index: number, vector: Float32Array): void {
    this.#vectors[index] = vector
    this.#done++
    this.#onProgress?.(this.#done)
  }

  finish(error?: unknown): void {
    if (error === undefined) this.#resolve(this.#vectors)
    else this.#reject(error)
  }
}
