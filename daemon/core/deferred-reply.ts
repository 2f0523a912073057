/** An answer that is still being made when the effect of its request is stored: a repeated request joins it instead of doing it again. */

export class Later<T> {
  /** Waits for the answer; what it throws is the answer too. */
  readonly made: () => Promise<T>

  constructor(made: () => Promise<T>) {
    this.made = made
  }
}
