/** New identifiers: a prefix that says what it is, and a UUIDv7 that sorts by time. */
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

export const generateId = (prefix: string): string => `${prefix}_${generator.generate()}`

/** Random numbers by the hundred: to have each made on its own costs more than all else of an identifier. */
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

/** One for all: it counts on within a millisecond, so that what is made later sorts later. */
const generator = new V7Generator(new RandomPool())
