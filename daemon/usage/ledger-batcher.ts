/** Inserts ledger entries in batches. */
import { setTimeout as pause } from 'node:timers/promises'
import type { MeteredModel } from '../core/meter.ts'
import type { Database, Transaction } from '../store/database.ts'
import { type BudgetGuard, FirstCallError } from './budget-guard.ts'
import { insertCalls, type NewLedgerCall } from './ledger-store.ts'

/** A transaction costs several times as much as an entry. */
const BATCH_DELAY_MS = 8
/** How often a call that waits for the first one of a budget is tried again. */
const FIRST_CALL_DELAY_MS = 250

interface PendingEntry {
  entry: NewLedgerCall
  model: MeteredModel
  resolve(id: string): void
  reject(reason: unknown): void
}

export class LedgerBatcher {
  readonly #database: Database
  readonly #budget: BudgetGuard
  #pending: PendingEntry[] = []

  constructor(database: Database, budget: BudgetGuard) {
    this.#database = database
    this.#budget = budget
  }

  /** Returns the entry's id. Throws BUDGET_EXCEEDED if the budget does not suffice. */
  add(entry: NewLedgerCall, model: MeteredModel): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, model, resolve, reject })
      if (this.#pending.length === 1) void this.#flush()
    })
  }

  /** Never rejects: errors are passed to the callers of `add`. */
  async #flush(delayMs = BATCH_DELAY_MS): Promise<void> {
    await pause(delayMs)
    const batch = this.#pending
    this.#pending = []
    try {
      const inserted = await this.#database.writeWithoutFlush((transaction) => this.#insertWithinBudget(transaction, batch))
      for (const { entry, resolve } of inserted) resolve(entry.id)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** Evaluations make many calls at once. Those that wait for the first one must not fail. */
  #wait(pending: PendingEntry): void {
    this.#pending.push(pending)
    if (this.#pending.length === 1) void this.#flush(FIRST_CALL_DELAY_MS)
  }

  /** Returns the inserted entries; rejects the others, or lets them wait for the first call. */
  async #insertWithinBudget(transaction: Transaction, batch: readonly PendingEntry[]): Promise<readonly PendingEntry[]> {
    if (!(await this.#budget.hasBlockingThreshold(transaction))) {
      await insertCalls(
        transaction,
        batch.map(({ entry }) => entry),
      )
      return batch
    }
    const admitted: PendingEntry[] = []
    for (const pending of batch) {
      const { entry, model } = pending
      try {
        await this.#budget.check(transaction, model, entry.origin, entry.began_at)
      } catch (error) {
        if (error instanceof FirstCallError) this.#wait(pending)
        else pending.reject(error)
        continue
      }
      await insertCalls(transaction, [entry]) // counts for the next check
      admitted.push(pending)
    }
    return admitted
  }
}
