/** Holds concurrent requests until a number of them are there, so that how many arrive at a time does not depend on the machine. */
import { setTimeout as delay } from 'node:timers/promises'

export class Barrier {
  readonly #size: number
  #held: (() => void)[] = []
  #open = 0
  /** The largest number of requests that were open at a time. */
  most = 0

  /** @param size how many are let through together. The number of all requests must be a multiple of it. */
  constructor(size: number) {
    this.#size = size
  }

  /** Resolves when the group is complete. The request counts as open until shortly after. */
  async pass(): Promise<void> {
    this.most = Math.max(this.most, ++this.#open)
    await new Promise<void>((resolve) => {
      this.#held.push(resolve)
      if (this.#held.length === this.#size) for (const release of this.#held.splice(0)) release()
    })
    // Another request, which would be one too many, could arrive meanwhile.
    await delay(5)
    this.#open--
  }
}
