/** A provider's model as a chat model: asked again where that is safe, and its stream read part by part. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionPool } from '../../outbound/connection-pool.ts'
import { resolveEndpoint } from '../../providers/endpoints.ts'
import {
  createMissingKeyError,
  createNetworkError,
  createStreamError,
  isKeyMissing,
  ProviderError,
} from '../../providers/provider-error.ts'
import type { RemoteModel } from '../../providers/remote-model.ts'
import { type ChatModel, type ChatPart, type ChatRequest, type ContextWindow, type Price, ToolsUnsupportedError } from '../chat-model.ts'
import { type ExchangeOptions, HttpExchange, type ProviderTimeouts } from './http-exchange.ts'
import { ChatCompletionsProtocol } from './openai-compatible/protocol.ts'
import type { ProviderProtocol, ProviderStream } from './protocol.ts'

export interface ProviderModelRecord extends RemoteModel, ContextWindow {
  name: string
  price: Price | null
  callsTools: boolean
}

const TRIES_AGAIN = 2
/** How servers say that a model takes no tools: Ollama, vLLM, llama.cpp, Groq, OpenRouter. */
const NO_TOOLS =
  /(do(es)? not|doesn't) support (tool|function)|(tool|function)s?( calling| use)?`? (is|are) not supported|support tool use|enable-auto-tool-choice|requires --jinja/i

export class ProviderChatModel implements ChatModel {
  readonly id: string
  readonly name: string
  readonly contextTokens: number
  readonly isContextKnown: boolean
  readonly price: Price | null
  readonly #record: ProviderModelRecord
  readonly #connections: ConnectionPool
  readonly #times: ProviderTimeouts
  #made: Promise<ProviderProtocol> | undefined
  #takesTools: boolean
  /** Old servers refuse to be asked for a count. */
  #countsTokens = true

  constructor(record: ProviderModelRecord, connections: ConnectionPool, times: ProviderTimeouts) {
    this.id = record.id
    this.name = record.name
    this.contextTokens = record.contextTokens
    this.isContextKnown = record.isContextKnown
    this.price = record.price
    this.#record = record
    this.#connections = connections
    this.#times = times
    this.#takesTools = record.callsTools
  }

  get canCallTools(): boolean {
    return this.#takesTools
  }

  async *stream(given: ChatRequest): AsyncGenerator<ChatPart> {
    const { signal } = given
    if (isKeyMissing(this.#record)) throw createMissingKeyError(this.#record)
    const request = this.#takesTools ? given : { ...given, tools: [] }
    // Before the clock runs: loading is our time, not the provider's.
    const dispatcher = await this.#connections.getAgent(this.#record.allow_private)
    await this.#wire()
    const deadline = performance.now() + this.#times.totalMs
    const options = { dispatcher, model: this.#record, timeouts: this.#times, deadline, signal }
    const { first, reply } = await this.#begin(request, options)
    try {
      for (let part = first; part !== undefined; part = await reply.next()) yield part
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      reply.close()
    }
  }

  /** A reply whose first part is there; until then, and no longer, asking again is safe. */
  async #begin(request: ChatRequest, options: ExchangeOptions): Promise<{ first: ChatPart | undefined; reply: ProviderStream }> {
    const { deadline, signal } = options
    for (let again = 0; ; again++) {
      signal?.throwIfAborted()
      const exchange = new HttpExchange(options)
      try {
        const reply = await (await this.#wire()).open(request, exchange)
        return { first: await reply.next(), reply }
      } catch (error) {
        exchange.close()
        signal?.throwIfAborted()
        const failure = this.#failureOf(exchange, error)
        if (this.#adapted(failure, request)) continue
        const wait = this.#patience(failure, again)
        if (wait === undefined || performance.now() + wait > deadline) throw failure
        await pause(wait, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())
      }
    }
  }

  #wire(): Promise<ProviderProtocol> {
    this.#made ??= this.#load()
    return this.#made
  }

  async #load(): Promise<ProviderProtocol> {
    const { provider } = this.#record
    if (provider === 'openai-compatible' || provider === 'ollama') return new ChatCompletionsProtocol(this.#record, this.#countsTokens)
    return (await import('./ai-sdk/protocol.ts')).AiSdkProtocol.load(this.#record)
  }

  #failureOf(exchange: HttpExchange, error: unknown): ProviderError {
    if (exchange.failure) return exchange.failure
    if (error instanceof ProviderError) return error
    const { statusCode } = error as { statusCode?: unknown }
    return statusCode === undefined
      ? createNetworkError(this.#record, new URL(resolveEndpoint(this.#record.provider, this.#record.endpoint)).host, error)
      : createStreamError(this.#record, error)
  }

  /** Learns what the server does not take; true where the same call may be sent again without it. */
  #adapted(failure: ProviderError, { tools = [] }: ChatRequest): boolean {
    if (tools.length > 0 && NO_TOOLS.test(failure.message)) {
      this.#takesTools = false
      throw new ToolsUnsupportedError('PROVIDER_ERROR', failure.message, {
        hint: 'Give the agent a model that calls tools, or set supports_tools of this one to false.',
        cause: failure,
      })
    }
    if (!this.#countsTokens || !/stream_options|include_usage/.test(failure.message)) return false
    this.#countsTokens = false
    this.#made = undefined
    return true
  }

  /** How long to wait before the next try; nothing where there is none. */
  #patience({ isRetryable: again, retryAfterMs: waitMs }: ProviderError, tries: number): number | undefined {
    if (!again || tries >= TRIES_AGAIN) return undefined
    if (waitMs !== undefined) return waitMs <= this.#times.maxRetryDelayMs ? waitMs : undefined
    // Many who were refused at once should not come back at once.
    return this.#times.retryDelayMs * 2 ** tries * (0.75 + Math.random() / 2)
  }
}
