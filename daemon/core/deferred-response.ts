/** A response that is not ready when the effect of its request is stored. A repeated request waits for it instead of executing again. */

export class DeferredResponse<T> {
  /** Resolves or rejects as the response does. */
  readonly wait: () => Promise<T>

  constructor(wait: () => Promise<T>) {
    this.wait = wait
  }
}
