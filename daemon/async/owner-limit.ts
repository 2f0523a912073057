/** Limits how much work of one owner runs at once. The work of others does not wait for it. */
import { Semaphore } from './semaphore.ts'

interface OwnerQueue {
  semaphore: Semaphore
  /** Running and waiting. */
  size: number
}

export class OwnerLimit {
  readonly #limit: number
  readonly #queues = new Map<unknown, OwnerQueue>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Number of owners with running or waiting work. */
  get ownerCount(): number {
    return this.#queues.size
  }

  /** Without an owner, the work runs at once. Work that was aborted while it waited does not run. */
  async run<T>(owner: unknown, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (owner === undefined) return work()
    const queue = this.#queues.get(owner) ?? { semaphore: new Semaphore(this.#limit), size: 0 }
    this.#queues.set(owner, queue)
    queue.size++
    const release = await queue.semaphore.acquire()
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      release()
      if (--queue.size === 0) this.#queues.delete(owner)
    }
  }
}
