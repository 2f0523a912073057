/** The meter that stands behind every call of a model: budgets before it, the ledger around it. */
import type { EventBus } from '../event-bus.ts'
import { newId } from '../identifiers.ts'
import { type BeginningCall, type CallOrigin, type Meter, type MeteredModel, money, type SettledCall } from '../metering.ts'
import type { Database, Transaction } from '../store/database.ts'
import { Budget } from './budget.ts'
import { entitiesOf, summedFor } from './entities.ts'
import { addToSums, type Call, callById, closeCall, estimateOutput, insertCall, openCalls } from './ledger-store.ts'

export interface UsageMeterParts {
  database: Database
  events: EventBus
  now(): Date
}

export class UsageMeter implements Meter {
  readonly #parts: UsageMeterParts
  readonly #budget: Budget

  constructor(parts: UsageMeterParts) {
    this.#parts = parts
    this.#budget = new Budget(parts.database, parts.events)
  }

  async admit(model: MeteredModel, origin: CallOrigin): Promise<void> {
    await this.#budget.check(this.#parts.database, entitiesOf(model.id, origin), this.#now())
  }

  async begin(transaction: Transaction, { model, kind, origin, estimatedInput }: BeginningCall): Promise<string> {
    const began_at = this.#now()
    await this.#budget.check(transaction, entitiesOf(model.id, origin), began_at)
    const id = newId('call')
    await insertCall(transaction, {
      id,
      kind,
      began_at,
      model_id: model.id,
      origin,
      price_input: model.price?.input ?? null,
      price_output: model.price?.output ?? null,
      input_tokens: whole(estimatedInput),
    })
    return id
  }

  async estimate(transaction: Transaction, entry: string, outputTokens: number): Promise<void> {
    await estimateOutput(transaction, entry, whole(outputTokens))
  }

  async settle(transaction: Transaction, entry: string, settled: SettledCall): Promise<number | null> {
    const call = await callById(transaction, entry)
    if (!call) throw new Error(`There is no entry "${entry}" in the ledger: its call was settled before it had begun, or its beginning was rolled back.`)
    if (call.status !== 'open') return call.cost
    const input_tokens = whole(settled.input_tokens)
    const output_tokens = whole(settled.output_tokens)
    const cost = costOf(call, input_tokens, output_tokens)
    const cached_tokens = Math.min(whole(settled.cached_tokens ?? 0), input_tokens)
    const outcome = { ...settled, input_tokens, output_tokens, cached_tokens, cost, settled_at: this.#now() }
    await closeCall(transaction, entry, outcome)
    await addToSums(transaction, summedFor(call), call, outcome)
    // A call counts for the day on which it began, also when it ends after midnight: that is where it was admitted.
    await this.#budget.tell(transaction, entitiesOf(call.model_id, call), call.began_at)
    return cost
  }

  /** Settles what a kill left open, with what was known of it. */
  async recover(): Promise<number> {
    return this.#parts.database.write(async (transaction) => {
      const left = await openCalls(transaction)
      for (const { id, input_tokens, output_tokens } of left)
        await this.settle(transaction, id, { input_tokens, output_tokens, status: 'interrupted', estimated: true })
      return left.length
    })
  }

  #now(): string {
    return this.#parts.now().toISOString()
  }
}

/** Cached input is counted at the full price: what providers take off for it is not known here, and a line that blocks should not block too late. */
function costOf({ price_input, price_output }: Call, input: number, output: number): number | null {
  return price_input === null || price_output === null ? null : money((input * price_input + output * price_output) / 1000)
}

/** Providers have been seen to count in fractions, below zero and not at all. */
const whole = (tokens: number): number => (Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0)
