/** Vectors that lie as those of a sentence model do: around subjects of very different sizes, in few of their many directions, some of them nowhere. */

const DIMENSIONS = 384
const CLUSTERS = 1_500
/** Share of vectors that belong to no subject. */
const OUTLIER_SHARE = 0.1

export class ClusteredVectors {
  #state = 1
  readonly #centers = Array.from({ length: CLUSTERS }, () => this.#direction())

  /** The same vectors in the same order, every run. */
  next(): Float32Array {
    const own = this.#direction()
    if (this.#uniform() < OUTLIER_SHARE) return own
    const subject = this.#centers[Math.floor(CLUSTERS * this.#uniform() ** 2)] as Float32Array
    const weight = 0.5 + 0.8 * this.#uniform()
    return normalize(own.map((value, at) => value * weight + (subject[at] as number)))
  }

  /** Normally distributed, and from one dimension to the next a little less. */
  #direction(): Float32Array {
    return normalize(Float32Array.from({ length: DIMENSIONS }, (_, at) => this.#normal() * (at + 1) ** -0.4))
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
