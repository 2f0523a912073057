/** A reply as far as it is written. */
import type { Static } from 'typebox'
import type { CadreError } from '../../../src/contract/errors.ts'
import type { Message, ToolCall } from '../../../src/contract/families/conversations.ts'
import { money, type SettledCall } from '../../core/meter.ts'
import type { StoredMessage } from '../store.ts'
import { Citations } from './citations.ts'

export type StoredToolCall = Static<typeof ToolCall>
export type FinishReason = NonNullable<Static<typeof Message>['finish_reason']>

/** Tokens and cost of the calls so far; the cost is null where a price is not known. */
interface Spent {
  input: number
  output: number
  cost: number | null
}

export interface Beginning {
  id: string
  timestamp: string
  model_id: string
}

export class Draft {
  content = ''
  readonly toolCalls: StoredToolCall[] = []
  readonly citations = new Citations()
  readonly #beginning: Beginning
  #begun = performance.now()
  spent: Spent = { input: 0, output: 0, cost: 0 }

  constructor(beginning: Beginning) {
    this.#beginning = beginning
  }

  /** Its time counts from here on. */
  begin(): void {
    this.#begun = performance.now()
  }

  /** What one more call of the model took. */
  count({ input_tokens, output_tokens }: SettledCall, cost: number | null): void {
    const { spent } = this
    this.spent = {
      input: spent.input + input_tokens,
      output: spent.output + output_tokens,
      cost: spent.cost === null || cost === null ? null : money(spent.cost + cost),
    }
  }

  /** The message as it stands; finished with a reason, else still being written. */
  message(finish_reason?: FinishReason, failure?: CadreError): StoredMessage {
    const { id, timestamp, model_id } = this.#beginning
    const { input, output, cost } = this.spent
    const content = this.content.toWellFormed()
    return {
      id,
      role: 'assistant',
      content,
      timestamp,
      citations: this.citations.in(content),
      tool_calls: this.toolCalls.map((call) => ({ ...call })),
      usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
      cost,
      model_id,
      ...(finish_reason ? { finish_reason, latency_ms: Math.round(performance.now() - this.#begun) } : {}),
      ...(failure ? { error: failure.message, error_code: failure.code } : {}),
    }
  }
}
