/** An answer that is still being made when the effect of its request is stored: a repeated request joins it instead of doing it again. */

export class DeferredResponse<T> {
  /** Waits for the answer; what it throws is the answer too. */
  readonly wait: () => Promise<T>

  constructor(made: () => Promise<T>) {
    this.wait = made
  }
}
