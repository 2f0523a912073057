/** The stream of one reply that a package of the AI SDK reads. */

import { createIncompleteError, createStreamError, type FailedModel, type ProviderError } from '../../../providers/provider-error.ts'
import type { ChatPart, FinishReason, TokenUsage } from '../../chat-model.ts'
import type { HttpExchange } from '../http-exchange.ts'
import type { ProviderStream } from '../protocol.ts'
import { ToolCallParser } from '../tool-call-parser.ts'
import type { StreamPart } from './load-language-model.ts'

export class AiSdkStream implements ProviderStream {
  readonly #record: FailedModel
  readonly #exchange: HttpExchange
  readonly #parts: ReadableStreamDefaultReader<StreamPart>
  readonly #calls = new ToolCallParser()
  #anything = false
  #over = false

  constructor(record: FailedModel, exchange: HttpExchange, stream: ReadableStream<StreamPart>) {
    this.#record = record
    this.#exchange = exchange
    this.#parts = stream.getReader()
  }

  async next(): Promise<ChatPart | undefined> {
    while (!this.#over) {
      const { done, value } = await this.#parts.read().catch((error: unknown) => {
        throw this.#exchange.failure ?? createStreamError(this.#record, error)
      })
      if (done) throw this.#exchange.failure ?? this.#cut()
      const part = this.#translated(value)
      if (part === undefined) continue
      this.#anything = true
      return part
    }
    return undefined
  }

  close(): void {
    this.#exchange.close()
    this.#parts.cancel().catch(() => {}) // ended already, one way or the other
  }

  #translated(part: StreamPart): ChatPart | undefined {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'text', text: part.delta }
      case 'tool-call':
        return this.#calls.parse({ id: part.toolCallId, name: part.toolName, input: part.input, seal: part.providerMetadata })
      case 'finish':
        return this.#end(part)
      case 'error':
        // The library misses the reason why it ended; the server said that it did.
        if (this.#anything && this.#exchange.isComplete && (part.error as Error)?.name === 'AI_InvalidResponseDataError') return undefined
        if ((part.error as Error)?.name === 'AI_InvalidResponseDataError') throw this.#cut()
        throw createStreamError(this.#record, part.error)
      default:
        return undefined
    }
  }

  #end({ finishReason: { unified, raw }, usage }: Extract<StreamPart, { type: 'finish' }>): ChatPart {
    if (raw === undefined && !(this.#anything && this.#exchange.isComplete)) throw this.#cut()
    this.#over = true
    return { type: 'end', finishReason: REASONS[unified] ?? 'other', usage: counted(usage) }
  }

  #cut(): ProviderError {
    return this.#exchange.failure ?? createIncompleteError(this.#record, this.#exchange.preview, this.#anything)
  }
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

function counted({ inputTokens, outputTokens }: Extract<StreamPart, { type: 'finish' }>['usage']): TokenUsage | undefined {
  if (!inputTokens.total && !outputTokens.total) return undefined
  return { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0, cachedTokens: inputTokens.cacheRead ?? 0 }
}
