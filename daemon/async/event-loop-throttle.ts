/** Keeps the turns of the event loop short: work that comes in crowds is spread over several, so that everybody else is answered in between. */

/** What a crowd may take of one turn, in milliseconds. */
const LONGEST_MS = 1

export class Breather {
  readonly #waiting: (() => void)[] = []
  /** When the work of this turn began. */
  #begun: number | undefined
  /** Whether somebody is at work who was let through. */
  #working = false

  /** Undefined while this turn has time, else what to wait for. To be asked before each piece of work that may come in crowds. */
  pause(): Promise<void> | undefined {
    if (this.#waiting.length > 0 || this.#working || !this.#hasTime()) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#let()
    return undefined
  }

  #hasTime(): boolean {
    if (this.#begun === undefined) {
      this.#begun = performance.now()
      setImmediate(() => this.#nextTurn())
      return true
    }
    return performance.now() - this.#begun < LONGEST_MS
  }

  #nextTurn(): void {
    this.#begun = undefined
    this.#goOn()
  }

  #goOn(): void {
    if (this.#working || this.#waiting.length === 0 || !this.#hasTime()) return
    this.#waiting.shift()?.()
    this.#let()
  }

  #let(): void {
    this.#working = true
    // A tick that a microtask asks for comes when no microtask is left: by then the work has gone as far as it can.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#working = false
        this.#goOn()
      }),
    )
  }
}
