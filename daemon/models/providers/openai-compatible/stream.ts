/** Reads a reply in the chat completions format, including the variants of compatible servers. */
import { StringDecoder } from 'node:string_decoder'
import { EventDecoder } from '../../../../src/sse.ts'
import type { ChatPart, FinishReason, TokenUsage } from '../../chat-model.ts'
import type { HttpExchange } from '../http-exchange.ts'
import { parseUsage } from '../parse-usage.ts'
import type { ProviderStream } from '../protocol.ts'
import { createStreamError, ProviderError, parseJson } from '../provider-error.ts'
import { type RawToolCall, ToolCallParser } from '../tool-call-parser.ts'

/** Fields are unknown, because some servers send other types. */
interface Chunk {
  error?: unknown
  choices?: { 0?: { delta?: Delta | null; message?: Delta | null; finish_reason?: unknown } | null } | null
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown; prompt_tokens_details?: { cached_tokens?: unknown } | null } | null
}

interface Delta {
  content?: unknown
  /** DeepSeek, vLLM and llama.cpp. */
  reasoning_content?: unknown
  /** OpenRouter and Ollama. */
  reasoning?: unknown
  tool_calls?: unknown
}

interface ToolCallDelta {
  index?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown } | null
  /** Must be sent back to Google's models with the call. */
  extra_content?: unknown
}

export class ChatCompletionsStream implements ProviderStream {
  readonly #exchange: HttpExchange
  readonly #bytes: AsyncIterator<Buffer>
  readonly #eventDecoder = new EventDecoder()
  readonly #textDecoder = new StringDecoder()
  /** Parts that were read ahead; `#position` is the next to return. */
  readonly #parts: ChatPart[] = []
  #position = 0
  readonly #calls: RawToolCall[] = []
  /** The last call of each index. */
  readonly #callsByIndex = new Map<unknown, RawToolCall>()
  #hasContent = false
  /** Whether the `[DONE]` event was received. */
  #isDone = false
  #finishReason = ''
  #usage: TokenUsage | undefined
  #failure: unknown
  #isEnded = false

  constructor(exchange: HttpExchange, bytes: AsyncIterator<Buffer>) {
    this.#exchange = exchange
    this.#bytes = bytes
  }

  async next(): Promise<ChatPart | undefined> {
    for (;;) {
      if (this.#position < this.#parts.length) return this.#parts[this.#position++]
      if (this.#failure) throw this.#failure
      if (this.#isEnded) return undefined
      this.#parts.length = this.#position = 0
      this.#readChunk(this.#isDone ? await this.#drain() : await this.#bytes.next())
    }
  }

  close(): void {
    this.#exchange.close()
  }

  async #drain(): Promise<IteratorReturnResult<undefined>> {
    await this.#exchange.drain()
    return { done: true, value: undefined }
  }

  /** Stores errors, so that the parts before them are returned first. */
  #readChunk({ done, value }: IteratorResult<Buffer>): void {
    try {
      // The empty line completes an event that the server left open.
      for (const { data } of this.#eventDecoder.push(done ? '\n\n' : this.#textDecoder.write(value))) this.#readEvent(data)
      if (done) this.#end()
    } catch (error) {
      this.#failure = error instanceof ProviderError ? error : this.#exchange.createIncompleteError(this.#hasContent)
    }
  }

  #readEvent(data: string): void {
    if (data === '[DONE]') {
      this.#isDone = true
      return
    }
    const chunk = parseJson(data) as Chunk | undefined
    if (typeof chunk !== 'object' || chunk === null) throw this.#exchange.createIncompleteError(this.#hasContent)
    if (chunk.error != null) throw createStreamError(this.#exchange.model, chunk.error)
    if (chunk.usage != null) {
      const { prompt_tokens, completion_tokens, prompt_tokens_details } = chunk.usage
      this.#usage = parseUsage(prompt_tokens, completion_tokens, prompt_tokens_details?.cached_tokens)
    }
    const choice = chunk.choices?.[0]
    this.#finishReason = parseString(choice?.finish_reason) || this.#finishReason
    const delta = choice?.delta ?? choice?.message
    const reasoning = parseString(delta?.reasoning_content) || parseString(delta?.reasoning) || extractText(delta?.content, 'thinking')
    if (reasoning !== '') this.#parts.push({ type: 'reasoning', text: reasoning })
    const text = extractText(delta?.content, 'text')
    if (text !== '') {
      this.#hasContent = true
      this.#parts.push({ type: 'text', text })
    }
    for (const call of filterObjects(delta?.tool_calls)) this.#appendToolCall(call)
  }

  /** Calls arrive in pieces. Some servers use the index 0 for all of them, or none: a new id starts a new call then. */
  #appendToolCall({ index, id: rawId, function: calledFunction, extra_content }: ToolCallDelta): void {
    const [id, name, input] = [parseString(rawId), parseString(calledFunction?.name), calledFunction?.arguments]
    let call = this.#callsByIndex.get(index)
    if (call === undefined || (id !== '' && call.id !== '' && id !== call.id && name !== '')) {
      call = { id: '', name: '', input: '' }
      this.#calls.push(call)
      this.#callsByIndex.set(index, call)
    }
    this.#hasContent = true
    call.id ||= id
    call.name ||= name
    if (input != null) call.input += typeof input === 'string' ? input : JSON.stringify(input)
    if (extra_content != null) call.seal = { extra_content }
  }

  #end(): void {
    if (this.#finishReason === '' && !(this.#hasContent && this.#isDone)) throw this.#exchange.createIncompleteError(this.#hasContent)
    this.#isEnded = true
    const parser = new ToolCallParser()
    for (const call of this.#calls) this.#parts.push(parser.parse(call))
    this.#parts.push({ type: 'end', finishReason: FINISH_REASONS.get(this.#finishReason) ?? 'other', usage: this.#usage })
  }
}

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
])

const parseString = (value: unknown): string => (typeof value === 'string' ? value : '')

const filterObjects = (value: unknown): object[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []

/** Some servers, such as Mistral's, send typed pieces, with reasoning in pieces of its own. */
function extractText(content: unknown, type: 'text' | 'thinking'): string {
  if (typeof content === 'string') return type === 'text' ? content : ''
  return filterObjects(content)
    .filter((piece: { type?: unknown }) => piece.type === type)
    .map((piece: { text?: unknown; thinking?: unknown }) => parseString(piece.text) || extractText(piece.thinking, 'text'))
    .join('')
}
