/** Random vectors with a distribution like that of a sentence model: clusters of different sizes, some outliers. */

const DIMENSIONS = 384
const CLUSTERS = 1_500
/** Share of vectors that belong to no cluster. */
const OUTLIER_SHARE = 0.1

export class ClusteredVectors {
  #state = 1
  readonly #centers = Array.from({ length: CLUSTERS }, () => this.#direction())

  /** Deterministic: every run returns the same sequence. */
  next(): Float32Array {
    const own = this.#direction()
    if (this.#uniform() < OUTLIER_SHARE) return own
    const center = this.#centers[Math.floor(CLUSTERS * this.#uniform() ** 2)] as Float32Array
    const weight = 0.5 + 0.8 * this.#uniform()
    return normalize(own.map((value, index) => value * weight + (center[index] as number)))
  }

  /** Normally distributed, with a variance that decreases from one dimension to the next. */
  #direction(): Float32Array {
    return normalize(Float32Array.from({ length: DIMENSIONS }, (_, index) => this.#normal() * (index + 1) ** -0.4))
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#uniform())) * Math.cos(2 * Math.PI * this.#uniform())
  }

  #uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function normalize(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  return vector.map((value) => value / Math.sqrt(squares))
}
