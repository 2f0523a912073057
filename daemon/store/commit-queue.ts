/** Runs the commits of a table one at a time and retries conflicts. */

const MAX_ATTEMPTS = 5

export class CommitQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(commit: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => retryConflicts(commit))
    this.#last = turn.catch(() => undefined) // the caller gets the error; the queue continues
    return turn
  }

  async waitUntilIdle(): Promise<void> {
    await this.#last
  }
}

async function retryConflicts<T>(commit: () => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS - 1; ; left--) {
    try {
      return await commit()
    } catch (error) {
      if (left === 0 || !/conflict/i.test(String((error as Error).message))) throw error
    }
  }
}
