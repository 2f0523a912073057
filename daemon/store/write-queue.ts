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

/** `commit` settles each write and does not throw. */
export function createWriteQueue<Transaction>(commit: (writes: readonly PendingWrite<Transaction>[]) => Promise<void>) {
  const pending: PendingWrite<Transaction>[] = []
  let draining: Promise<void> | undefined

  function add<T>(mustFlush: boolean, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      pending.push({ mustFlush, work, resolve: resolve as (result: unknown) => void, reject })
      draining ??= drain()
    })
  }

  async function waitUntilIdle(): Promise<void> {
    await draining
  }

  async function drain(): Promise<void> {
    while (pending.length > 0) {
      await commit(pending.splice(0, MAX_WRITES_PER_COMMIT))
      // Lets pending I/O callbacks add their writes to the next commit.
      await new Promise(setImmediate)
    }
    draining = undefined
  }

  return { add, waitUntilIdle }
}
