/** Handles large bodies one at a time, in turns between their senders, so that many of them at once delay no other requests. */

/** Parsing and validating more than this takes milliseconds. */
const LARGE_BYTES = 64 * 1024

export class LargeBodies {
  /** What waits, by sender. The next sender is the first. */
  readonly #waiting = new Map<unknown, (() => void)[]>()
  #isBusy = false

  /** Calls `handle` at once, or in its turn if the body is large. */
  add(bytes: number, sender: unknown, handle: () => void): void {
    if (bytes <= LARGE_BYTES) {
      handle()
      return
    }
    const bodies = this.#waiting.get(sender)
    if (bodies) bodies.push(handle)
    else this.#waiting.set(sender, [handle])
    if (this.#isBusy) return
    this.#isBusy = true
    setImmediate(() => this.#handleNext())
  }

  #handleNext(): void {
    const startedAt = performance.now()
    this.#take()?.()
    // The body has been validated by then, too. The pause leaves half of the time to other requests.
    setImmediate(() => {
      if (this.#waiting.size === 0) this.#isBusy = false
      else setTimeout(() => this.#handleNext(), performance.now() - startedAt)
    })
  }

  #take(): (() => void) | undefined {
    const next = this.#waiting.entries().next().value
    if (!next) return undefined
    const [sender, bodies] = next
    this.#waiting.delete(sender)
    const handle = bodies.shift()
    if (bodies.length > 0) this.#waiting.set(sender, bodies)
    return handle
  }
}
