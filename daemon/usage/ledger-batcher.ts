/** Inserts ledger entries in batches. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../store/database.ts'
import type { BudgetGuard } from './budget-guard.ts'
import { listBudgetEntities } from './entities.ts'
import { insertCalls, type NewLedgerCall } from './ledger-store.ts'

/** A transaction costs several times as much as an entry. */
const BATCH_DELAY_MS = 8

interface PendingEntry {
  entry: NewLedgerCall
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
  add(entry: NewLedgerCall): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, resolve, reject })
      if (this.#pending.length === 1) void this.#flush()
    })
  }

  /** Never rejects: errors are passed to the callers of `add`. */
  async #flush(): Promise<void> {
    await pause(BATCH_DELAY_MS)
    const batch = this.#pending
    this.#pending = []
    try {
      const inserted = await this.#database.writeWithoutFlush((transaction) => this.#insertWithinBudget(transaction, batch))
      for (const { entry, resolve } of inserted) resolve(entry.id)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** Returns the inserted entries; rejects the others. */
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
      const { model_id, origin, began_at } = pending.entry
      try {
        await this.#budget.check(transaction, listBudgetEntities(model_id, origin), began_at)
      } catch (error) {
        pending.reject(error)
        continue
      }
      await insertCalls(transaction, [pending.entry]) // counts for the next check
      admitted.push(pending)
    }
    return admitted
  }
}
