/** Limits the frame rate to 30 per second, and to less if drawing is slow. */

const FRAME_INTERVAL_MS = 1000 / 30
/** Share of the time for drawing; the rest is for keys and events. */
const MAX_DRAW_SHARE = 0.4
/** Upper bound of the delay, so that typed text appears in time on a busy machine. */
const MAX_DELAY_MS = 150

export interface Clock {
  now(): number
  /** Returns a function that cancels the callback. */
  schedule(milliseconds: number, work: () => void): () => void
  /** Calls back after rendering: React renders in a microtask. */
  afterRender(work: () => void): void
}

const REAL_CLOCK: Clock = {
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
  #isPaused = false

  constructor(draw: () => void, clock: Clock = REAL_CLOCK) {
    this.#draw = draw
    this.#clock = clock
  }

  /** Requests a frame. Several requests result in one frame. */
  request(): void {
    if (this.#cancel || this.#stopped || this.#isPaused) return
    this.#cancel = this.#clock.schedule(this.#getDelay(), () => {
      this.#cancel = undefined
      // The duration of the previous frame may have been measured after this request.
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
    const startedAt = this.#clock.now()
    this.#nextFrameAt = startedAt + FRAME_INTERVAL_MS
    this.#draw()
    this.#clock.afterRender(() => {
      const interval = Math.min(MAX_DELAY_MS, Math.max(FRAME_INTERVAL_MS, (this.#clock.now() - startedAt) / MAX_DRAW_SHARE))
      this.#nextFrameAt = Math.max(this.#nextFrameAt, startedAt + interval)
    })
  }

  /** Requests a frame, which is not drawn before this time. */
  delay(milliseconds: number): void {
    this.#nextFrameAt = this.#clock.now() + milliseconds
    this.request()
  }

  /** Draws nothing until `resume`. */
  pause(): void {
    this.flush()
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.flush()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopped = true
  }
}
