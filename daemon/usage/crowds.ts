/** Calls of one day and model that count for the same: they are added up before they are added to the sums. */
import { ORIGINS } from './entities.ts'
import type { Amounts, Call, Outcome } from './ledger-store.ts'

interface Crowd {
  /** Any of them. */
  call: Call
  amounts: Amounts
}

export class Crowds {
  readonly #crowds = new Map<string, Crowd>()

  add(call: Call, { input_tokens, output_tokens, cached_tokens, cost }: Outcome): void {
    const key = JSON.stringify([call.began_at.slice(0, 10), call.model_id, ...Object.values(ORIGINS).map((field) => call[field] ?? null)])
    const known = this.#crowds.get(key)?.amounts
    const amounts = {
      calls: (known?.calls ?? 0) + 1,
      input_tokens: (known?.input_tokens ?? 0) + input_tokens,
      output_tokens: (known?.output_tokens ?? 0) + output_tokens,
      cached_tokens: (known?.cached_tokens ?? 0) + cached_tokens,
      unpriced_tokens: (known?.unpriced_tokens ?? 0) + (cost === null ? input_tokens + output_tokens : 0),
      cost: (known?.cost ?? 0) + (cost ?? 0),
    }
    this.#crowds.set(key, { call, amounts })
  }

  [Symbol.iterator](): Iterator<Crowd> {
    return this.#crowds.values()
  }
}
