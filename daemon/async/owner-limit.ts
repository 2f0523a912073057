/** Limits how much work of one owner runs at once, and further while others are busy. The work of others does not wait for it. */

interface OwnerQueue {
  running: number
  waiting: (() => void)[]
}

interface OwnerLimits {
  /** While only this owner has work. */
  alone: number
  /** While others have work too. At least 1. */
  shared: number
  /** Whether others are busy with work that does not run here. */
  areOthersBusy?: (owner: unknown) => boolean
}

export class OwnerLimit {
  readonly #limits: OwnerLimits
  readonly #queues = new Map<unknown, OwnerQueue>()

  constructor(limits: OwnerLimits) {
    this.#limits = limits
  }

  /** Number of owners with running or waiting work. */
  get ownerCount(): number {
    return this.#queues.size
  }

  /** Without an owner, the work runs at once. Work that was aborted while it waited does not run. */
  async run<T>(owner: unknown, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (owner === undefined) return work()
    const queue = this.#queues.get(owner) ?? { running: 0, waiting: [] }
    this.#queues.set(owner, queue)
    await new Promise<void>((resolve) => {
      queue.waiting.push(resolve)
      this.#start(owner, queue)
    })
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      queue.running--
      this.#start(owner, queue)
      if (queue.running === 0) this.#queues.delete(owner)
    }
  }

  /** Called whenever work of the owner arrives or ends, so the owner notices by then that others have become busy or idle. */
  #start(owner: unknown, queue: OwnerQueue): void {
    while (queue.waiting.length > 0 && queue.running < this.#getLimit(owner)) {
      queue.running++
      queue.waiting.shift()?.()
    }
  }

  #getLimit(owner: unknown): number {
    const { alone, shared, areOthersBusy } = this.#limits
    return this.#queues.size > 1 || areOthersBusy?.(owner) ? shared : alone
  }
}
