/** Handles one large body in each turn of the event loop, so that many of them at once do not delay other requests. */

/** Parsing and validating more than this takes milliseconds. */
const LARGE_BYTES = 64 * 1024

export class LargeBodies {
  readonly #waiting: (() => void)[] = []

  /** Calls `handle` at once, or in a turn of its own if the body is large. */
  add(bytes: number, handle: () => void): void {
    if (bytes <= LARGE_BYTES) handle()
    else if (this.#waiting.push(handle) === 1) setImmediate(() => this.#handleNext())
  }

  #handleNext(): void {
    this.#waiting[0]?.()
    this.#waiting.shift()
    if (this.#waiting.length > 0) setImmediate(() => this.#handleNext())
  }
}
