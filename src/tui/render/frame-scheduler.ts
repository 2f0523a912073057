/** When the screen is drawn: at once where it rested, else thirty times a second at most, and less often where drawing takes long. */

const FRAME_MS = 1000 / 30
/** Drawing may take this part of the time; the rest is for keys and events. */
const SHARE = 0.4
/** A busy machine makes drawing look longer than it is; who types sees it by then all the same. */
const LONGEST_MS = 150

export interface Clock {
  now(): number
  /** Calls back after that many milliseconds; what it returns forgets it. */
  later(milliseconds: number, work: () => void): () => void
  /** Calls back when what was begun is done: React draws in a microtask after it was told to. */
  done(work: () => void): void
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  later(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
  done: queueMicrotask,
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
    this.#cancel = this.#clock.later(this.#wait(), () => {
      this.#cancel = undefined
      // The frame before may have turned out to take long only after this one was asked for.
      if (this.#wait() > 0) this.request()
      else this.flush()
    })
  }

  #wait(): number {
    return Math.max(0, this.#next - this.#clock.now())
  }

  /** Draws now. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#stopped) return
    const began = this.#clock.now()
    this.#next = began + FRAME_MS
    this.#draw()
    this.#clock.done(() => {
      this.#next = began + Math.min(LONGEST_MS, Math.max(FRAME_MS, (this.#clock.now() - began) / SHARE))
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopped = true
  }
}
