/** Draft of an assistant message: text, tool calls, citations and usage so far. */
import type { CadreError } from '../../../src/contract/errors.ts'
import type { Confidence } from '../../../src/contract/schemas/confidence.ts'
import type { Message, ToolCall } from '../../../src/contract/schemas/messages.ts'
import type { Usage } from '../../../src/contract/schemas/usage.ts'
import { roundMoney } from '../../core/compute-cost.ts'
import { addCallUsage, type CallUsage, toUsageView } from '../../core/meter.ts'
import type { StoredMessage } from '../store.ts'
import { CitationRegistry } from './citations.ts'

export type StoredToolCall = ToolCall
export type FinishReason = NonNullable<Message['finish_reason']>

const NO_TOKENS: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

type DraftHeader = Required<Pick<StoredMessage, 'id' | 'timestamp' | 'model_id'>>

export class MessageDraft {
  content = ''
  reasoning = ''
  /** Only of the embedded model. */
  confidence: Confidence | undefined
  readonly toolCalls: StoredToolCall[] = []
  readonly citations = new CitationRegistry()
  readonly #header: DraftHeader
  /** How often each id was used for a tool call. */
  readonly #usedCallIds = new Map<string, number>()
  #startedAt = performance.now()
  /** Model tokens and cost so far; the cost is null if a price is unknown. */
  usage: { tokens: Usage; cost: number | null; contextTokens: number } = { tokens: NO_TOKENS, cost: 0, contextTokens: 0 }

  /** Earlier messages that the model read as a summary, and those that it did not read, in the call that read the least. */
  #history = { summarizedMessages: 0, omittedMessages: 0 }

  /** Takes over the usage of a failed reply that this one replaces. */
  constructor(header: DraftHeader, replaced?: StoredMessage) {
    this.#header = header
    const { usage, cost = 0 } = replaced ?? {}
    if (usage) this.usage = { tokens: usage, cost, contextTokens: 0 }
  }

  /** Latency is measured from here. */
  startTimer(): void {
    this.#startedAt = performance.now()
  }

  /** Adds a tool call under a unique id: some servers restart their numbering at each step. */
  addToolCall({ id, name, arguments: args }: Pick<StoredToolCall, 'id' | 'name' | 'arguments'>): StoredToolCall {
    const wanted = id === '' ? 'call' : id
    let count = this.#usedCallIds.get(wanted) ?? 0
    let uniqueId = wanted
    while (this.#usedCallIds.has(uniqueId)) uniqueId = `${wanted}-${++count}`
    this.#usedCallIds.set(wanted, Math.max(count, 1))
    if (uniqueId !== wanted) this.#usedCallIds.set(uniqueId, 1)
    const call: StoredToolCall = { id: uniqueId, name, arguments: args }
    this.toolCalls.push(call)
    return call
  }

  addUsage(call: CallUsage, cost: number | null): void {
    const { usage } = this
    this.usage = {
      tokens: addCallUsage(usage.tokens, call),
      cost: usage.cost === null || cost === null ? null : roundMoney(usage.cost + cost),
      contextTokens: toUsageView(call).total_tokens || usage.contextTokens,
    }
  }

  addHistory({ summarizedMessages, omittedMessages }: { summarizedMessages: number; omittedMessages: number }): void {
    this.#history = { summarizedMessages, omittedMessages: Math.max(omittedMessages, this.#history.omittedMessages) }
  }

  /** Without a finish reason the message is still being written. */
  toMessage(finish_reason?: FinishReason, failure?: CadreError): StoredMessage {
    const { id, timestamp, model_id } = this.#header
    const { tokens, cost, contextTokens } = this.usage
    const { summarizedMessages, omittedMessages } = this.#history
    const content = this.content.toWellFormed()
    return {
      id,
      role: 'assistant',
      content,
      timestamp,
      citations: this.citations.listFor(content),
      ...(this.confidence ? { confidence: this.confidence } : {}),
      tool_calls: this.toolCalls.map((call) => ({ ...call })),
      ...(this.reasoning === '' ? {} : { reasoning: this.reasoning.toWellFormed() }),
      usage: tokens,
      ...(contextTokens > 0 ? { context_tokens: contextTokens } : {}),
      ...(summarizedMessages > 0 ? { summarized_messages: summarizedMessages } : {}),
      ...(omittedMessages > 0 ? { omitted_messages: omittedMessages } : {}),
      cost,
      model_id,
      ...(finish_reason ? { finish_reason, latency_ms: Math.round(performance.now() - this.#startedAt) } : {}),
      ...(failure ? { error: failure.message, error_code: failure.code } : {}),
    }
  }
}
