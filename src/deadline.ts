/**
 * Timeouts that count only the time in which this process runs. While a machine sleeps or stands still nothing can respond, so
 * a timeout that counted this time would pass for every open request as soon as the machine continues.
 */

/** A timeout consists of this many parts. A pause of any length takes at most one of them. */
const PARTS = 10

export interface Deadline {
  readonly hasPassed: boolean
  /** Starts again from the beginning. */
  restart(): void
  cancel(): void
  /** Lets the process end before the deadline. */
  unref(): Deadline
}

/** Multiplies a timeout that users cannot set by CADRE_TIMEOUT_FACTOR, for machines on which everything takes longer. */
export function scaleTimeout(milliseconds: number, environment: NodeJS.ProcessEnv = process.env): number {
  const factor = Number(environment.CADRE_TIMEOUT_FACTOR)
  return factor > 0 ? milliseconds * factor : milliseconds
}

export function startDeadline(milliseconds: number, onPassed: () => void = () => {}): Deadline {
  let partsLeft = PARTS
  const timer = setTimeout(() => {
    partsLeft--
    if (partsLeft > 0) timer.refresh()
    else onPassed()
  }, milliseconds / PARTS)
  return {
    get hasPassed() {
      return partsLeft === 0
    },
    restart() {
      partsLeft = PARTS
      timer.refresh()
    },
    cancel: () => clearTimeout(timer),
    unref() {
      timer.unref()
      return this
    },
  }
}

/** Like `AbortSignal.timeout`. */
export function createDeadlineSignal(milliseconds: number): AbortSignal {
  const controller = new AbortController()
  startDeadline(milliseconds, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'))).unref()
  return controller.signal
}
