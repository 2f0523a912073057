/** Calls of one day and model that count for the same: they are added up before they are added to the sums. */
import { type Amounts, NOTHING, plus } from './amounts.ts'
import { ORIGINS } from './entities.ts'
import type { Call, Outcome } from './ledger-store.ts'

interface Crowd {
  /** Any of them. */
  call: Call
  amounts: Amounts
}

const WHOSE = Object.values(ORIGINS)

export class Crowds {
  readonly #crowds = new Map<string, Crowd>()

  add(call: Call, { input_tokens, output_tokens, cached_tokens, cost }: Outcome): void {
    const key = [call.began_at.slice(0, 10), call.model_id, ...WHOSE.map((field) => call[field])].join(' ')
    const unpriced_tokens = cost === null ? input_tokens + output_tokens : 0
    const amounts = { calls: 1, input_tokens, output_tokens, cached_tokens, unpriced_tokens, cost: cost ?? 0 }
    this.#crowds.set(key, { call, amounts: plus(this.#crowds.get(key)?.amounts ?? NOTHING, amounts) })
  }

  [Symbol.iterator](): Iterator<Crowd> {
    return this.#crowds.values()
  }
}
