/** Generates identifiers: a prefix for the kind of resource and a UUIDv7, which sorts by time. */
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

export const generateId = (prefix: string): string => `${prefix}_${generator.generate()}`

/** Draws random numbers in batches: one system call per identifier would dominate its cost. */
class RandomPool {
  readonly #numbers = new Uint32Array(256)
  #used = this.#numbers.length

  nextUint32(): number {
    if (this.#used === this.#numbers.length) {
      randomFillSync(this.#numbers)
      this.#used = 0
    }
    return this.#numbers[this.#used++] as number
  }
}

/** Shared, because it increments within a millisecond: later identifiers sort later. */
const generator = new V7Generator(new RandomPool())
