/** Collects writes that arrive during a commit, so that they share the next one. */

/** Bounds how long a commit blocks the event loop, or holds the lock of a server. */
const MAX_WRITES_PER_COMMIT = 50

export interface PendingWrite<Transaction> {
  /** Whether the commit must be on disk before the caller continues. */
  mustFlush: boolean
  work(transaction: Transaction): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

export class WriteQueue<Transaction> {
  readonly #pending: PendingWrite<Transaction>[] = []
  readonly #commit: (writes: readonly PendingWrite<Transaction>[]) => Promise<void>
  #draining: Promise<void> | undefined

  /** `commit` settles each write and does not throw. */
  constructor(commit: (writes: readonly PendingWrite<Transaction>[]) => Promise<void>) {
    this.#commit = commit
  }

  add<T>(mustFlush: boolean, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ mustFlush, work, resolve: resolve as (result: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  async waitUntilIdle(): Promise<void> {
    await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      await this.#commit(this.#pending.splice(0, MAX_WRITES_PER_COMMIT))
      // Lets pending I/O callbacks add their writes to the next commit.
      await new Promise(setImmediate)
    }
    this.#draining = undefined
  }
}
