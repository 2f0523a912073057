/** Calls that are about to begin and can wait a moment: those that come together are entered together. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../store/database.ts'
import type { BudgetGuard } from './budget-guard.ts'
import { listBudgetEntities } from './entities.ts'
import { insertCalls, type NewLedgerCall } from './ledger-store.ts'

/** How long the first waits for others: a transaction costs several times what an entry does. */
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

  /** Gives the entry's id. Throws BUDGET_EXCEEDED where there is no room for it beside the others. */
  add(entry: NewLedgerCall): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, resolve, reject })
      if (this.#pending.length === 1) void this.#flush()
    })
  }

  /** Never throws: those who wait hear of it. */
  async #flush(): Promise<void> {
    await pause(BATCH_DELAY_MS)
    const together = this.#pending
    this.#pending = []
    try {
      const entered = await this.#database.writeWithoutFlush((transaction) => this.#insertWithinBudget(transaction, together))
      for (const { entry, resolve } of entered) resolve(entry.id)
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }

  /** Enters them and gives those for which there was room; the others are told that there is none. */
  async #insertWithinBudget(transaction: Transaction, together: readonly PendingEntry[]): Promise<readonly PendingEntry[]> {
    if (!(await this.#budget.hasBlockingThreshold(transaction))) {
      await insertCalls(
        transaction,
        together.map(({ entry }) => entry),
      )
      return together
    }
    const admitted: PendingEntry[] = []
    for (const each of together) {
      const { model_id, origin, began_at } = each.entry
      try {
        await this.#budget.check(transaction, listBudgetEntities(model_id, origin), began_at)
      } catch (error) {
        each.reject(error)
        continue
      }
      await insertCalls(transaction, [each.entry]) // the next is weighed with it
      admitted.push(each)
    }
    return admitted
  }
}
