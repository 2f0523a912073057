/** A counting semaphore with a first-in, first-out queue. */

/** Resolves with a release function. Calling it more than once has no effect. */
export type Acquire = () => Promise<() => void>

export class Semaphore {
  #permits: number
  readonly #queue: (() => void)[] = []

  constructor(permits: number) {
    this.#permits = permits
  }

  readonly acquire: Acquire = async () => {
    if (this.#permits > 0) this.#permits--
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    let released = false
    return () => {
      if (released) return
      released = true
      const next = this.#queue.shift()
      if (next) next()
      else this.#permits++
    }
  }
}
