/** When the screen is drawn: at once where it rested, else thirty times a second at most, and less often where drawing takes long. */

const FRAME_INTERVAL_MS = 1000 / 30
/** Drawing may take this part of the time; the rest is for keys and events. */
const MAX_DRAW_SHARE = 0.4
/** A busy machine makes drawing look longer than it is; who types sees it by then all the same. */
const MAX_DELAY_MS = 150

export interface Clock {
  now(): number
  /** Calls back after that many milliseconds; what it returns forgets it. */
  schedule(milliseconds: number, work: () => void): () => void
  /** Calls back when what was begun is done: React draws in a microtask after it was told to. */
  afterRender(work: () => void): void
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  schedule(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
  afterRender: queueMicrotask,
}

export class FrameScheduler {
  readonly #draw: () => void
  readonly #clock: Clock
  #nextFrameAt = 0
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(draw: () => void, clock: Clock = REAL_CLOCK) {
    this.#draw = draw
    this.#clock = clock
  }

  /** Something changed. However often this is said, it is drawn once a frame. */
  request(): void {
    if (this.#cancel || this.#stopped) return
    this.#cancel = this.#clock.schedule(this.#getDelay(), () => {
      this.#cancel = undefined
      // The frame before may have turned out to take long only after this one was asked for.
      if (this.#getDelay() > 0) this.request()
      else this.flush()
    })
  }

  #getDelay(): number {
    return Math.max(0, this.#nextFrameAt - this.#clock.now())
  }

  /** Draws now. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#stopped) return
    const began = this.#clock.now()
    this.#nextFrameAt = began + FRAME_INTERVAL_MS
    this.#draw()
    this.#clock.afterRender(() => {
      this.#nextFrameAt = began + Math.min(MAX_DELAY_MS, Math.max(FRAME_INTERVAL_MS, (this.#clock.now() - began) / MAX_DRAW_SHARE))
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopped = true
  }
}
