/** Implements the meter: checks budgets and records calls in the ledger. */
import { computeCost } from '../core/compute-cost.ts'
import type { EventBus } from '../core/event-bus.ts'
import { generateId } from '../core/identifiers.ts'
import {
  type CallOrigin,
  type CallUsage,
  type Meter,
  type MeteredModel,
  type ModelCall,
  type Settlement,
  toTokenCount,
} from '../core/meter.ts'
import type { Database, Transaction } from '../store/database.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type BudgetGuard, createBudgetGuard } from './budget-guard.ts'
import { addToSums } from './daily-sums-store.ts'
import { listBudgetEntities, listSummedEntities } from './entities.ts'
import { LedgerBatcher } from './ledger-batcher.ts'
import {
  type CallOutcome,
  closeCalls,
  estimateOutput,
  getCalls,
  insertCalls,
  type LedgerCall,
  listAbandonedCalls,
  type NewLedgerCall,
} from './ledger-store.ts'

export interface UsageMeterDependencies {
  database: Database
  events: EventBus
  telemetry?: Telemetry
  now(): Date
}

export class UsageMeter implements Meter {
  readonly #dependencies: UsageMeterDependencies
  readonly #budget: BudgetGuard
  readonly #batcher: LedgerBatcher

  constructor(dependencies: UsageMeterDependencies) {
    this.#dependencies = dependencies
    this.#budget = createBudgetGuard(dependencies.database, dependencies.events)
    this.#batcher = new LedgerBatcher(dependencies.database, this.#budget)
  }

  async checkBudget(model: MeteredModel, origin: CallOrigin): Promise<void> {
    await this.#budget.check(this.#dependencies.database, model, origin, this.#now())
  }

  async begin(transaction: Transaction, call: ModelCall): Promise<string> {
    const entry = this.#createEntry(call)
    await this.#budget.check(transaction, call.model, call.origin, entry.began_at)
    await insertCalls(transaction, [entry])
    return entry.id
  }

  beginWithoutFlush(call: ModelCall): Promise<string> {
    return this.#batcher.add(this.#createEntry(call), call.model)
  }

  #createEntry({ model, kind, origin, estimatedInput, maxOutput }: ModelCall): NewLedgerCall {
    return {
      id: generateId('call'),
      kind,
      began_at: this.#now(),
      model_id: model.id,
      origin,
      price_input: model.price?.input ?? null,
      price_output: model.price?.output ?? null,
      input_tokens: toTokenCount(estimatedInput),
      reserved_output: kind === 'embedding' ? 0 : (maxOutput ?? null),
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
    const entries = settlements.map(({ entry }) => entry)
    const calls = await getCalls(transaction, entries)
    const outcomes: (CallOutcome & { id: string })[] = []
    const costs = settlements.map(({ entry, call: settled }) => {
      const call = calls.get(entry)
      if (!call)
        throw new Error(`There is no ledger entry "${entry}": the call was settled before it began, or its beginning was rolled back.`)
      if (call.status !== 'open') return call.cost
      const [input_tokens, output_tokens] = [toTokenCount(settled.input_tokens), toTokenCount(settled.output_tokens)]
      const price = call.price_input === null || call.price_output === null ? null : { input: call.price_input, output: call.price_output }
      const cost = computeCost(price, settled)
      const cached_tokens = Math.min(toTokenCount(settled.cached_tokens ?? 0), input_tokens)
      outcomes.push({ id: entry, ...settled, input_tokens, output_tokens, cached_tokens, cost, settled_at: this.#now() })
      call.status = settled.status // the same entry may occur twice in `settlements`
      call.cost = cost
      return cost
    })
    await closeCalls(transaction, outcomes)
    // A call counts for the day on which it began: that day's budget admitted it.
    for (const { id, input_tokens, output_tokens, cached_tokens, estimated, cost } of outcomes) {
      const call = calls.get(id) as LedgerCall
      const total = input_tokens + output_tokens
      this.#dependencies.telemetry?.countTokens(call.kind, { input_tokens, output_tokens })
      const [unpriced_tokens, estimated_tokens] = [cost === null ? total : 0, estimated ? total : 0]
      const amounts = { calls: 1, input_tokens, output_tokens, cached_tokens, unpriced_tokens, estimated_tokens, cost: cost ?? 0 }
      await addToSums(transaction, listSummedEntities(call), call, amounts)
      await this.#budget.publishExceeded(transaction, listBudgetEntities(call.model_id, call), call.began_at)
    }
    return costs
  }

  /** Settles open calls of daemons that have ended with their estimates. Returns their number. */
  async recover(): Promise<number> {
    return this.#dependencies.database.write(async (transaction) => {
      const openCalls = await listAbandonedCalls(transaction)
      await this.settleAll(
        transaction,
        openCalls.map(({ id, input_tokens, output_tokens }) => ({
          entry: id,
          call: { input_tokens, output_tokens, status: 'interrupted', estimated: true },
        })),
      )
      return openCalls.length
    })
  }

  #now(): string {
    return this.#dependencies.now().toISOString()
  }
}
