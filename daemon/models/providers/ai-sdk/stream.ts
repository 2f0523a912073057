/** Converts the stream of an AI SDK package to the parts of a reply. */

import type { ChatPart, FinishReason } from '../../chat-model.ts'
import type { HttpExchange } from '../http-exchange.ts'
import { parseUsage } from '../parse-usage.ts'
import type { ProviderStream } from '../protocol.ts'
import { createStreamError } from '../provider-error.ts'
import { ToolCallParser } from '../tool-call-parser.ts'
import type { StreamPart } from './load-language-model.ts'

type FinishPart = Extract<StreamPart, { type: 'finish' }>

export class AiSdkStream implements ProviderStream {
  readonly #exchange: HttpExchange
  readonly #reader: ReadableStreamDefaultReader<StreamPart>
  readonly #toolCallParser = new ToolCallParser()
  #hasContent = false
  #isEnded = false

  constructor(exchange: HttpExchange, stream: ReadableStream<StreamPart>) {
    this.#exchange = exchange
    this.#reader = stream.getReader()
  }

  async next(): Promise<ChatPart | undefined> {
    while (!this.#isEnded) {
      const { done, value } = await this.#reader.read().catch((error: unknown) => {
        throw this.#exchange.failure ?? createStreamError(this.#exchange.model, error)
      })
      if (done) throw this.#exchange.createIncompleteError(this.#hasContent)
      const part = this.#convert(value)
      if (part === undefined) continue
      if (part.type !== 'reasoning') this.#hasContent = true
      return part
    }
    return undefined
  }

  close(): void {
    this.#exchange.close()
    this.#reader.cancel().catch(() => {}) // already closed
  }

  #convert(part: StreamPart): ChatPart | undefined {
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'text', text: part.delta }
      case 'reasoning-delta':
        return part.delta === '' ? undefined : { type: 'reasoning', text: part.delta }
      case 'tool-call':
        return this.#toolCallParser.parse({ id: part.toolCallId, name: part.toolName, input: part.input, seal: part.providerMetadata })
      case 'finish':
        return this.#end(part)
      case 'error':
        if ((part.error as Error)?.name !== 'AI_InvalidResponseDataError') throw createStreamError(this.#exchange.model, part.error)
        // The package misses a finish reason, but the server sent [DONE].
        if (this.#hasContent && this.#exchange.isComplete) return undefined
        throw this.#exchange.createIncompleteError(this.#hasContent)
      default:
        return undefined
    }
  }

  #end({ finishReason: { unified, raw }, usage }: FinishPart): ChatPart {
    if (raw === undefined && !(this.#hasContent && this.#exchange.isComplete)) throw this.#exchange.createIncompleteError(this.#hasContent)
    this.#isEnded = true
    return { type: 'end', finishReason: FINISH_REASONS[unified] ?? 'other', usage: convertUsage(usage) }
  }
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

const convertUsage = ({ inputTokens, outputTokens }: FinishPart['usage']) =>
  parseUsage(inputTokens.total, outputTokens.total, inputTokens.cacheRead)
