/** When the screen is drawn: at once where it rested, else thirty times a second at most, and less often where drawing takes long. */

const FRAME_MS = 1000 / 30
/** Drawing may take this part of the time; the rest is for keys and events. */
const SHARE = 0.4

export interface Clock {
  now(): number
  /** Calls back after that many milliseconds; what it returns forgets it. */
  later(milliseconds: number, work: () => void): () => void
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  later(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
}

export class Frames {
  readonly #draw: () => void
  readonly #clock: Clock
  #next = 0
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(draw: () => void, clock: Clock = REAL_CLOCK) {
    this.#draw = draw
    this.#clock = clock
  }

  /** Something changed. However often this is said, it is drawn once a frame. */
  request(): void {
    if (this.#cancel || this.#stopped) return
    this.#cancel = this.#clock.later(Math.max(0, this.#next - this.#clock.now()), () => this.flush())
  }

  /** Draws what was requested now. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#stopped) return
    const began = this.#clock.now()
    this.#draw()
    const took = this.#clock.now() - began
    this.#next = began + Math.max(FRAME_MS, took / SHARE)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopped = true
  }
}
