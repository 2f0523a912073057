/** A reply as far as it is written. */
import type { Static } from 'typebox'
import type { CadreError } from '../../../src/contract/errors.ts'
import type { Message, ToolCall } from '../../../src/contract/families/conversations.ts'
import { money, type SettledCall } from '../../core/meter.ts'
import type { StoredMessage } from '../store.ts'
import { CitationRegistry } from './citations.ts'

export type StoredToolCall = Static<typeof ToolCall>
export type FinishReason = NonNullable<Static<typeof Message>['finish_reason']>

/** Tokens and cost of the calls so far; the cost is null where a price is not known. */
interface DraftUsage {
  input: number
  output: number
  cost: number | null
}

export interface DraftHeader {
  id: string
  timestamp: string
  model_id: string
}

export class MessageDraft {
  content = ''
  readonly toolCalls: StoredToolCall[] = []
  readonly citations = new CitationRegistry()
  readonly #header: DraftHeader
  #startedAt = performance.now()
  usage: DraftUsage = { input: 0, output: 0, cost: 0 }

  constructor(beginning: DraftHeader) {
    this.#header = beginning
  }

  /** Its time counts from here on. */
  startTimer(): void {
    this.#startedAt = performance.now()
  }

  /** What one more call of the model took. */
  addUsage({ input_tokens, output_tokens }: SettledCall, cost: number | null): void {
    const { usage: spent } = this
    this.usage = {
      input: spent.input + input_tokens,
      output: spent.output + output_tokens,
      cost: spent.cost === null || cost === null ? null : money(spent.cost + cost),
    }
  }

  /** The message as it stands; finished with a reason, else still being written. */
  toMessage(finish_reason?: FinishReason, failure?: CadreError): StoredMessage {
    const { id, timestamp, model_id } = this.#header
    const { input, output, cost } = this.usage
    const content = this.content.toWellFormed()
    return {
      id,
      role: 'assistant',
      content,
      timestamp,
      citations: this.citations.listFor(content),
      tool_calls: this.toolCalls.map((call) => ({ ...call })),
      usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
      cost,
      model_id,
      ...(finish_reason ? { finish_reason, latency_ms: Math.round(performance.now() - this.#startedAt) } : {}),
      ...(failure ? { error: failure.message, error_code: failure.code } : {}),
    }
  }
}
