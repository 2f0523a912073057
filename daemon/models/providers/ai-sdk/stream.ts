/** The stream of one reply that a package of the AI SDK reads. */
import type { ChatPart, FinishReason, TokenUsage } from '../../chat-model.ts'
import type { Exchange } from '../http-exchange.ts'
import type { ProviderReply } from '../protocol.ts'
import { brokeOff, cutOff, type Failing, type ProviderFailure } from '../provider-error.ts'
import { ToolRequests } from '../tool-call-parser.ts'
import type { LibraryPart } from './packages.ts'

export class LibraryReply implements ProviderReply {
  readonly #record: Failing
  readonly #exchange: Exchange
  readonly #parts: ReadableStreamDefaultReader<LibraryPart>
  readonly #calls = new ToolRequests()
  #anything = false
  #over = false

  constructor(record: Failing, exchange: Exchange, stream: ReadableStream<LibraryPart>) {
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

  #translated(part: LibraryPart): ChatPart | undefined {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'text', text: part.delta }
      case 'tool-call':
        return this.#calls.read({ id: part.toolCallId, name: part.toolName, input: part.input, seal: part.providerMetadata })
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

  #end({ finishReason: { unified, raw }, usage }: Extract<LibraryPart, { type: 'finish' }>): ChatPart {
    if (raw === undefined && !(this.#anything && this.#exchange.complete)) throw this.#cut()
    this.#over = true
    return { type: 'end', finishReason: REASONS[unified] ?? 'other', usage: counted(usage) }
  }

  #cut(): ProviderFailure {
    return this.#exchange.failure ?? cutOff(this.#record, this.#exchange.beginning, this.#anything)
  }
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

function counted({ inputTokens, outputTokens }: Extract<LibraryPart, { type: 'finish' }>['usage']): TokenUsage | undefined {
  if (!inputTokens.total && !outputTokens.total) return undefined
  return { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0, cachedTokens: inputTokens.cacheRead ?? 0 }
}
