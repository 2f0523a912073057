import { setTimeout as sleep } from 'node:timers/promises'
import { CadreError } from '../../../src/contract/errors.ts'
import { startDeadline } from '../../../src/deadline.ts'
import type { ConnectionPool } from '../../outbound/connection-pool.ts'
import type { Operation, Telemetry } from '../../telemetry/telemetry.ts'
import {
  type ChatInput,
  type ChatModel,
  type ChatPart,
  type ContextWindow,
  hasImages,
  type Price,
  type TokenUsage,
  ToolsUnsupportedError,
} from '../chat-model.ts'
import { resolveEndpoint } from './endpoints.ts'
import { type ExchangeOptions, HttpExchange, type ProviderTimeouts } from './http-exchange.ts'
import { createChatCompletionsProtocol } from './openai-compatible/protocol.ts'
import type { OpenStream, ProviderStream } from './protocol.ts'
import { createMissingKeyError, createNetworkError, createStreamError, isKeyMissing, ProviderError } from './provider-error.ts'
import { ReasoningTagParser } from './reasoning-tags.ts'
import type { RemoteModel } from './remote-model.ts'
import { ReplyRedactor } from './reply-redactor.ts'

export interface ProviderModelRecord extends RemoteModel, ContextWindow {
  name: string
  price: Price | null
  canCallTools: boolean
  canReadImages: boolean | null
}

const MAX_RETRIES = 2
/** Error messages of Ollama, vLLM, llama.cpp, Groq and OpenRouter for models without tool support. */
const TOOLS_UNSUPPORTED = new RegExp(
  "(do(es)? not|doesn't) support (tool|function)|(tool|function)s?( calling| use)?`? (is|are) not supported" +
    '|support tool use|enable-auto-tool-choice|requires --jinja',
  'i',
)

/** Error messages of OpenAI, vLLM, llama.cpp, Ollama, OpenRouter, DeepSeek and Groq for models that do not read images. */
const IMAGES_UNSUPPORTED = new RegExp(
  "(do(es)? not|doesn't|not|cannot) (currently )?(support|accept|process|read) (image|vision|multimodal)" +
    '|not a multimodal model|image_url.{0,40}(only )?supported by certain models|images?( input| inputs)? (is|are) not supported' +
    '|support image input|unknown variant `image_url`|missing data required for image input|content must be a string',
  'i',
)

export class ProviderChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly contextTokens: number
  readonly isContextKnown: boolean
  readonly price: Price | null
  readonly #record: ProviderModelRecord
  readonly #connections: ConnectionPool
  readonly #timeouts: ProviderTimeouts
  readonly #telemetry: Telemetry
  #protocol: Promise<OpenStream> | undefined
  #canCallTools: boolean
  #canReadImages: boolean | null
  /** Old servers reject requests that ask for usage. */
  #requestsUsage = true

  constructor(record: ProviderModelRecord, connections: ConnectionPool, timeouts: ProviderTimeouts, telemetry: Telemetry) {
    this.id = record.id
    this.name = record.name
    this.contextTokens = record.contextTokens
    this.isContextKnown = record.isContextKnown
    this.price = record.price
    this.#record = record
    this.#connections = connections
    this.#timeouts = timeouts
    this.#telemetry = telemetry
    this.#canCallTools = record.canCallTools
    this.#canReadImages = record.canReadImages
  }

  get canCallTools(): boolean {
    return this.#canCallTools
  }

  get canReadImages(): boolean | null {
    return this.#canReadImages
  }

  async *stream(chatRequest: ChatInput): AsyncGenerator<ChatPart> {
    const { signal } = chatRequest
    if (isKeyMissing(this.#record)) throw createMissingKeyError(this.#record)
    const request = this.#canCallTools ? chatRequest : { ...chatRequest, tools: [] }
    // Loaded before the deadline starts, because that time is not the provider's.
    const dispatcher = await this.#connections.getAgent(this.#record.allow_private)
    await this.#getProtocol()
    const total = new AbortController()
    const deadline = startDeadline(this.#timeouts.totalMs, () => total.abort())
    const call = this.#startCall()
    const getTraceHeaders = () => call.run(this.#telemetry.getTraceHeaders)
    const options = { dispatcher, model: this.#record, timeouts: this.#timeouts, total: total.signal, signal, getTraceHeaders }
    const tags = new ReasoningTagParser()
    const redactor = this.#record.api_key === null ? undefined : new ReplyRedactor(this.#record.api_key)
    const redact = (parts: ChatPart[]) => (redactor ? parts.flatMap((part) => redactor.redact(part)) : parts)
    let stream: ProviderStream | undefined
    try {
      const opened = await this.#open(request, options)
      stream = opened.stream
      for (let part = opened.first; part !== undefined; part = await stream.next()) {
        if (part.type === 'end') call.end('success', formatUsage(part.usage))
        yield* redact(tags.parse(part))
      }
      call.end('success')
    } catch (error) {
      call.fail(error, signal)
      signal?.throwIfAborted()
      yield* redact(tags.flush())
      if (redactor) yield* redactor.flush()
      throw error
    } finally {
      call.end('aborted') // if the caller wants no more parts
      deadline.cancel()
      stream?.close()
    }
  }

  #startCall(): Operation {
    const { provider, model_id } = this.#record
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': provider, 'gen_ai.request.model': model_id }
    return this.#telemetry.start('provider_call', { labels: [provider, 'chat'], spanName: `chat ${model_id}`, attributes })
  }

  /** Waits for the first part. After it, requests are not retried. */
  async #open(request: ChatInput, options: ExchangeOptions): Promise<{ first: ChatPart | undefined; stream: ProviderStream }> {
    const { total, signal } = options
    for (let retries = 0; ; retries++) {
      signal?.throwIfAborted()
      const exchange = new HttpExchange(options)
      try {
        const openStream = await this.#getProtocol()
        const stream = await openStream(request, exchange)
        return { first: await stream.next(), stream }
      } catch (error) {
        exchange.close()
        signal?.throwIfAborted()
        const failure = this.#toProviderError(exchange, error)
        if (this.#adapt(failure, request)) continue
        const delayMs = this.#getRetryDelay(failure, retries)
        if (delayMs === undefined) throw failure
        await sleep(delayMs, undefined, { signal: signal ? AbortSignal.any([signal, total]) : total }).catch(() => signal?.throwIfAborted())
        if (total.aborted) throw failure
      }
    }
  }

  #getProtocol(): Promise<OpenStream> {
    this.#protocol ??= this.#loadProtocol()
    return this.#protocol
  }

  async #loadProtocol(): Promise<OpenStream> {
    const { provider } = this.#record
    if (provider === 'openai-compatible' || provider === 'ollama') return createChatCompletionsProtocol(this.#record, this.#requestsUsage)
    return (await import('./ai-sdk/protocol.ts')).loadAiSdkProtocol(this.#record)
  }

  #toProviderError(exchange: HttpExchange, error: unknown): ProviderError {
    if (exchange.failure) return exchange.failure
    if (error instanceof ProviderError) return error
    const { statusCode } = error as { statusCode?: unknown }
    return statusCode === undefined
      ? createNetworkError(this.#record, new URL(resolveEndpoint(this.#record.provider, this.#record.endpoint)).host, error)
      : createStreamError(this.#record, error)
  }

  /** Remembers what the server does not support. Returns true if the request can be sent again without it. */
  #adapt(error: ProviderError, request: ChatInput): boolean {
    const { tools = [] } = request
    if (hasImages(request) && IMAGES_UNSUPPORTED.test(error.message)) {
      this.#canReadImages = false
      throw new CadreError('PROVIDER_ERROR', `The model "${this.name}" cannot read images. ${error.message}`, {
        hint: 'Send the message without images, or use a model that reads them.',
        cause: error,
      })
    }
    if (tools.length > 0 && TOOLS_UNSUPPORTED.test(error.message)) {
      this.#canCallTools = false
      throw new ToolsUnsupportedError('PROVIDER_ERROR', error.message, {
        hint: 'Use a model that supports tools, or set supports_tools of this one to false.',
        cause: error,
      })
    }
    if (!this.#requestsUsage || !/stream_options|include_usage/.test(error.message)) return false
    this.#requestsUsage = false
    this.#protocol = undefined
    return true
  }

  /** Returns undefined if the request must not be retried. */
  #getRetryDelay({ isRetryable, retryAfterMs }: ProviderError, retries: number): number | undefined {
    if (!isRetryable || retries >= MAX_RETRIES) return undefined
    if (retryAfterMs !== undefined) return retryAfterMs <= this.#timeouts.maxRetryDelayMs ? retryAfterMs : undefined
    // With jitter, so that clients that failed together do not retry together.
    return this.#timeouts.retryDelayMs * 2 ** retries * (0.75 + Math.random() / 2)
  }
}

const formatUsage = (usage: TokenUsage | undefined) =>
  usage && { 'gen_ai.usage.input_tokens': usage.inputTokens, 'gen_ai.usage.output_tokens': usage.outputTokens }
