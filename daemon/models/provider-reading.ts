/** The stream of one reply, part by part, until it says that it is over. */
import type { ChatPart, FinishReason, TokenUsage, ToolRequest } from './chat.ts'
import type { WirePart } from './language-models.ts'
import type { Exchange } from './provider-exchange.ts'
import { brokeOff, cutOff, type Failing, type ProviderFailure } from './provider-failure.ts'

export class Reading {
  readonly #record: Failing
  readonly #exchange: Exchange
  readonly #parts: ReadableStreamDefaultReader<WirePart>
  readonly #ids = new Set<string>()
  #anything = false
  #over = false

  constructor(record: Failing, exchange: Exchange, stream: ReadableStream<WirePart>) {
    this.#record = record
    this.#exchange = exchange
    this.#parts = stream.getReader()
  }

  async next(): Promise<ChatPart | undefined> {
    while (!this.#over) {
      const { done, value } = await this.#parts.read().catch((error: unknown) => {
        throw this.#exchange.failure ?? brokeOff(this.#record, error)
      })
      if (done) throw this.#exchange.failure ?? this.#cut()
      const part = this.#translated(value)
      if (part === undefined) continue
      this.#anything = true
      return part
    }
    return undefined
  }

  end(): void {
    this.#exchange.end()
    this.#parts.cancel().catch(() => {}) // ended already, one way or the other
  }

  #translated(part: WirePart): ChatPart | undefined {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'text', text: part.delta }
      case 'tool-call':
        return this.#toolCall(part)
      case 'finish':
        return this.#end(part)
      case 'error':
        // The library misses the reason why it ended; the server said that it did.
        if (this.#anything && this.#exchange.complete && (part.error as Error)?.name === 'AI_InvalidResponseDataError') return undefined
        if ((part.error as Error)?.name === 'AI_InvalidResponseDataError') throw this.#cut()
        throw brokeOff(this.#record, part.error)
      default:
        return undefined
    }
  }

  #toolCall({ toolCallId, toolName: name, input, providerMetadata: seal }: Extract<WirePart, { type: 'tool-call' }>): ChatPart {
    // Some servers give no ids, or the same one twice.
    const id = toolCallId === '' || this.#ids.has(toolCallId) ? `${toolCallId || 'call'}_${this.#ids.size}` : toolCallId
    this.#ids.add(id)
    const call: ToolRequest = { id, name, arguments: {}, ...(seal ? { seal } : {}) }
    try {
      const given: unknown = JSON.parse(input.trim() === '' ? '{}' : input)
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return { type: 'tool_call', call, problem: 'The arguments are no JSON object.' }
      return { type: 'tool_call', call: { ...call, arguments: given as Record<string, unknown> } }
    } catch (error) {
      return { type: 'tool_call', call, problem: `The arguments are no JSON: ${(error as Error).message}` }
    }
  }

  #end({ finishReason: { unified, raw }, usage }: Extract<WirePart, { type: 'finish' }>): ChatPart {
    if (raw === undefined && !(this.#anything && this.#exchange.complete)) throw this.#cut()
    this.#over = true
    return { type: 'end', finishReason: REASONS[unified] ?? 'other', usage: counted(usage) }
  }

  #cut(): ProviderFailure {
    return this.#exchange.failure ?? cutOff(this.#record, this.#exchange.beginning, this.#anything)
  }
}

const REASONS: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' }

function counted({ inputTokens, outputTokens }: Extract<WirePart, { type: 'finish' }>['usage']): TokenUsage | undefined {
  if (!inputTokens.total && !outputTokens.total) return undefined
  return { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0, cachedTokens: inputTokens.cacheRead ?? 0 }
}
