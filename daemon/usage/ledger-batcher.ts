/** Calls that are about to begin and can wait a moment: those that come together are entered together. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../store/database.ts'
import type { Budget } from './budget.ts'
import { entitiesOf } from './entities.ts'
import { insertCalls, type NewCall } from './ledger-store.ts'

/** How long the first waits for others: a transaction costs several times what an entry does. */
const GATHERING_MS = 8

interface Waiting {
  entry: NewCall
  resolve(id: string): void
  reject(reason: unknown): void
}

export class Entries {
  readonly #database: Database
  readonly #budget: Budget
  #waiting: Waiting[] = []

  constructor(database: Database, budget: Budget) {
    this.#database = database
    this.#budget = budget
  }

  /** Gives the entry's id. Throws BUDGET_EXCEEDED where there is no room for it beside the others. */
  add(entry: NewCall): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject })
      if (this.#waiting.length === 1) void this.#enter()
    })
  }

  /** Never throws: those who wait hear of it. */
  async #enter(): Promise<void> {
    await pause(GATHERING_MS)
    const together = this.#waiting
    this.#waiting = []
    try {
      const entered = await this.#database.writeWithoutFlush((transaction) => this.#admitted(transaction, together))
      for (const { entry, resolve } of entered) resolve(entry.id)
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }

  /** Enters them and gives those for which there was room; the others are told that there is none. */
  async #admitted(transaction: Transaction, together: readonly Waiting[]): Promise<readonly Waiting[]> {
    if (!(await this.#budget.blocks(transaction))) {
      await insertCalls(
        transaction,
        together.map(({ entry }) => entry),
      )
      return together
    }
    const admitted: Waiting[] = []
    for (const each of together) {
      const { model_id, origin, began_at } = each.entry
      try {
        await this.#budget.check(transaction, entitiesOf(model_id, origin), began_at)
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
