/** The stream of one reply as OpenAI's chat completions have it, and as the many servers that speak like it bend it. */
import { StringDecoder } from 'node:string_decoder'
import { EventDecoder } from '../../../../src/sse.ts'
import { createIncompleteError, createStreamError, type FailedModel, type ProviderError } from '../../../providers/provider-error.ts'
import type { ChatPart, FinishReason, TokenUsage } from '../../chat-model.ts'
import type { HttpExchange } from '../http-exchange.ts'
import type { ProviderStream } from '../protocol.ts'
import { type RawToolCall, ToolCallParser } from '../tool-call-parser.ts'

/** What is read of an event. Servers are many and some are broken: nothing of it is certain, not even its type. */
interface Chunk {
  error?: unknown
  choices?: { 0?: { delta?: Delta | null; message?: Delta | null; finish_reason?: unknown } | null } | null
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown; prompt_tokens_details?: { cached_tokens?: unknown } | null } | null
}

interface Delta {
  content?: unknown
  tool_calls?: unknown
}

interface CallDelta {
  index?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown } | null
  /** Google's models want it back with the call. */
  extra_content?: unknown
}

interface OpenCall extends RawToolCall {
  index: unknown
}

export class ChatCompletionsStream implements ProviderStream {
  readonly #record: FailedModel
  readonly #exchange: HttpExchange
  readonly #bytes: AsyncIterator<Buffer>
  readonly #decoder = new EventDecoder()
  readonly #text = new StringDecoder()
  /** Read, and not yet asked for. */
  readonly #parts: ChatPart[] = []
  #given = 0
  readonly #calls: OpenCall[] = []
  #anything = false
  #done = false
  #finish = ''
  #usage: TokenUsage | undefined
  #failure: unknown
  #over = false

  constructor(record: FailedModel, exchange: HttpExchange, bytes: AsyncIterator<Buffer>) {
    this.#record = record
    this.#exchange = exchange
    this.#bytes = bytes
  }

  async next(): Promise<ChatPart | undefined> {
    for (;;) {
      if (this.#given < this.#parts.length) return this.#parts[this.#given++]
      if (this.#failure) throw this.#failure
      if (this.#over) return undefined
      this.#parts.length = this.#given = 0
      this.#take(this.#done ? await this.#finished() : await this.#bytes.next())
    }
  }

  close(): void {
    this.#exchange.close()
  }

  async #finished(): Promise<IteratorReturnResult<undefined>> {
    await this.#exchange.drain()
    return { done: true, value: undefined }
  }

  /** What came before something failed is handed on before the failure is. */
  #take({ done, value }: IteratorResult<Buffer>): void {
    try {
      // The empty line ends an event that a careless server left open.
      for (const { data } of this.#decoder.push(done ? '\n\n' : this.#text.write(value))) this.#read(data)
      if (done) this.#end()
    } catch (error) {
      this.#failure = error
    }
  }

  #read(data: string): void {
    if (data === '[DONE]') {
      this.#done = true
      return
    }
    const chunk = this.#parsed(data)
    if (chunk.error != null) throw createStreamError(this.#record, chunk.error)
    if (chunk.usage != null) this.#usage = counted(chunk.usage)
    const choice = chunk.choices?.[0]
    this.#finish = wordOf(choice?.finish_reason) || this.#finish
    const delta = choice?.delta ?? choice?.message
    const text = textOf(delta?.content)
    if (text !== '') {
      this.#anything = true
      this.#parts.push({ type: 'text', text })
    }
    for (const call of objectsIn(delta?.tool_calls)) this.#call(call)
  }

  #parsed(data: string): Chunk {
    try {
      const chunk: unknown = JSON.parse(data)
      if (typeof chunk === 'object' && chunk !== null) return chunk
    } catch {
      // told below: what is no JSON is no reply either
    }
    throw this.#cut()
  }

  /** Calls come in pieces. Some servers number all of them 0, or none: then an id that was not there before begins another. */
  #call({ index, id: given, function: called, extra_content }: CallDelta): void {
    const [id, name] = [wordOf(given), wordOf(called?.name)]
    let call = this.#calls.findLast((each) => each.index === index)
    if (call === undefined || (id !== '' && call.id !== '' && id !== call.id && name !== '')) {
      call = { index, id: '', name: '', input: '' }
      this.#calls.push(call)
    }
    this.#anything = true
    call.id ||= id
    call.name ||= name
    if (called?.arguments != null) call.input += typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments)
    if (extra_content != null) call.seal = { extra_content }
  }

  #end(): void {
    if (this.#finish === '' && !(this.#anything && this.#done)) throw this.#cut()
    this.#over = true
    const requests = new ToolCallParser()
    for (const call of this.#calls) this.#parts.push(requests.parse(call))
    this.#parts.push({ type: 'end', finishReason: REASONS.get(this.#finish) ?? 'other', usage: this.#usage })
  }

  #cut(): ProviderError {
    return this.#exchange.failure ?? createIncompleteError(this.#record, this.#exchange.preview, this.#anything)
  }
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
])

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const objectsIn = (value: unknown): object[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : []

/** Some send their text in typed pieces, with what they thought between. */
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectsIn(content)
        .map((piece: { type?: unknown; text?: unknown }) => (piece.type === 'text' ? wordOf(piece.text) : ''))
        .join('')

function counted({ prompt_tokens, completion_tokens, prompt_tokens_details }: NonNullable<Chunk['usage']>): TokenUsage | undefined {
  const [inputTokens, outputTokens, cachedTokens] = [prompt_tokens, completion_tokens, prompt_tokens_details?.cached_tokens].map(
    tokens,
  ) as [number, number, number]
  return inputTokens + outputTokens === 0 ? undefined : { inputTokens, outputTokens, cachedTokens }
}

const tokens = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0)
