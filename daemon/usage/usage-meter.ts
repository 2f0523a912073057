/** The meter that stands behind every call of a model: budgets before it, the ledger around it. */
import type { EventBus } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import {
  type CallOrigin,
  type CallUsage,
  computeCost,
  type Meter,
  type MeteredModel,
  type ModelCall,
  type Settlement,
  toTokenCount,
} from '../core/meter.ts'
import type { Database, Transaction } from '../store/database.ts'
import { BudgetGuard } from './budget-guard.ts'
import { listBudgetEntities, listSummedEntities } from './entities.ts'
import { LedgerBatcher } from './ledger-batcher.ts'
import {
  addToSums,
  type CallOutcome,
  closeCalls,
  estimateOutput,
  getCalls,
  insertCalls,
  type LedgerCall,
  listOpenCalls,
  type NewLedgerCall,
} from './ledger-store.ts'

export interface UsageMeterDependencies {
  database: Database
  events: EventBus
  now(): Date
}

export class UsageMeter implements Meter {
  readonly #dependencies: UsageMeterDependencies
  readonly #budget: BudgetGuard
  readonly #batcher: LedgerBatcher

  constructor(parts: UsageMeterDependencies) {
    this.#dependencies = parts
    this.#budget = new BudgetGuard(parts.database, parts.events)
    this.#batcher = new LedgerBatcher(parts.database, this.#budget)
  }

  async checkBudget(model: MeteredModel, origin: CallOrigin): Promise<void> {
    await this.#budget.check(this.#dependencies.database, listBudgetEntities(model.id, origin), this.#now())
  }

  async begin(transaction: Transaction, call: ModelCall): Promise<string> {
    const entry = this.#createEntry(call)
    await this.#budget.check(transaction, listBudgetEntities(entry.model_id, entry.origin), entry.began_at)
    await insertCalls(transaction, [entry])
    return entry.id
  }

  beginWithoutFlush(call: ModelCall): Promise<string> {
    return this.#batcher.add(this.#createEntry(call))
  }

  #createEntry({ model, kind, origin, estimatedInput }: ModelCall): NewLedgerCall {
    return {
      id: generateId('call'),
      kind,
      began_at: this.#now(),
      model_id: model.id,
      origin,
      price_input: model.price?.input ?? null,
      price_output: model.price?.output ?? null,
      input_tokens: toTokenCount(estimatedInput),
    }
  }

  async estimate(transaction: Transaction, entry: string, outputTokens: number): Promise<void> {
    await estimateOutput(transaction, entry, toTokenCount(outputTokens))
  }

  async settle(transaction: Transaction, entry: string, call: CallUsage): Promise<number | null> {
    const costs = await this.#close(transaction, [{ entry, call }])
    return costs[0] ?? null
  }

  async settleAll(transaction: Transaction, settlements: readonly Settlement[]): Promise<void> {
    if (settlements.length > 0) await this.#close(transaction, settlements)
  }

  async #close(transaction: Transaction, settlements: readonly Settlement[]): Promise<(number | null)[]> {
    const ids = settlements.map(({ entry }) => entry)
    const calls = await getCalls(transaction, ids)
    const closed: { call: LedgerCall; outcome: CallOutcome & { id: string } }[] = []
    const costs = settlements.map(({ entry, call: settled }) => {
      const call = calls.get(entry)
      if (!call)
        throw new Error(
          `There is no entry "${entry}" in the ledger: its call was settled before it had begun, or its beginning was rolled back.`,
        )
      if (call.status !== 'open') return call.cost
      const [input_tokens, output_tokens] = [toTokenCount(settled.input_tokens), toTokenCount(settled.output_tokens)]
      const price = call.price_input === null || call.price_output === null ? null : { input: call.price_input, output: call.price_output }
      const cost = computeCost(price, settled)
      const cached_tokens = Math.min(toTokenCount(settled.cached_tokens ?? 0), input_tokens)
      const outcome = { id: entry, ...settled, input_tokens, output_tokens, cached_tokens, cost, settled_at: this.#now() }
      closed.push({ call, outcome })
      call.status = settled.status // said again in the same breath, it counts once
      call.cost = cost
      return cost
    })
    await closeCalls(
      transaction,
      closed.map(({ outcome }) => outcome),
    )
    // A call counts for the day on which it began, also when it ends after midnight: that is where it was admitted.
    for (const { call, outcome } of closed) {
      const { input_tokens, output_tokens, cached_tokens, cost } = outcome
      const unpriced_tokens = cost === null ? input_tokens + output_tokens : 0
      await addToSums(transaction, listSummedEntities(call), call, {
        calls: 1,
        input_tokens,
        output_tokens,
        cached_tokens,
        unpriced_tokens,
        cost: cost ?? 0,
      })
      await this.#budget.publishExceeded(transaction, listBudgetEntities(call.model_id, call), call.began_at)
    }
    return costs
  }

  /** Settles what a kill left open, with what was known of it. */
  async recover(): Promise<number> {
    return this.#dependencies.database.write(async (transaction) => {
      const left = await listOpenCalls(transaction)
      await this.settleAll(
        transaction,
        left.map(({ id, input_tokens, output_tokens }) => ({
          entry: id,
          call: { input_tokens, output_tokens, status: 'interrupted', estimated: true },
        })),
      )
      return left.length
    })
  }

  #now(): string {
    return this.#dependencies.now().toISOString()
  }
}
