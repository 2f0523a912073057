/** The texts of one call, and how far they are. */

export class EmbeddingJob {
  readonly texts: readonly string[]
  readonly isUrgent: boolean
  readonly result: Promise<Float32Array[]>
  readonly #vectors: Float32Array[]
  readonly #progress: ((done: number) => void) | undefined
  #taken = 0
  #answered = 0
  #resolve: (vectors: Float32Array[]) => void = () => {}
  #reject: (failure: unknown) => void = () => {}

  constructor(texts: readonly string[], urgent: boolean, progress?: (done: number) => void) {
    this.#progress = progress
    this.texts = texts
    this.isUrgent = urgent
    this.#vectors = new Array<Float32Array>(texts.length)
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Texts without a vector. */
  get remaining(): number {
    return this.texts.length - this.#answered
  }

  get hasNext(): boolean {
    return this.#taken < this.texts.length
  }

  /** The place of the next text to embed. */
  takeNext(): number {
    return this.#taken++
  }

  setVector(at: number, vector: Float32Array): void {
    this.#vectors[at] = vector
    this.#answered++
    this.#progress?.(this.#answered)
  }

  finish(failure?: unknown): void {
    if (failure === undefined) this.#resolve(this.#vectors)
    else this.#reject(failure)
  }
}
