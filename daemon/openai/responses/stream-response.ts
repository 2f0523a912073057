/** Streams replies as the events of a response. */
import { CadreError } from '../../../src/contract/errors.ts'
import { createOpenaiError } from '../../../src/contract/openai/errors.ts'
import type { ResponseEvents } from '../../../src/contract/openai/response-events.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { StreamEvent } from '../../../src/contract/route.ts'
import type { Message, ToolCall } from '../../../src/contract/schemas/messages.ts'
import { getSources, listClientCalls } from '../reply-format.ts'
import {
  createResponse,
  formatCall,
  formatMessage,
  formatResponse,
  formatText,
  getStatus,
  type ResponseFormatting,
} from './format-response.ts'

const EMPTY_REPLY = { content: '', citations: [] }

export function streamResponse(events: AsyncIterable<StreamEvent>, format: ResponseFormatting): AsyncIterable<StreamEvent> {
  return new ResponseStream(format).stream(events as AsyncIterable<ReplyEvent>)
}

class ResponseStream {
  readonly #format: ResponseFormatting
  #sequenceNumber = 0
  /** The text so far; undefined before the message is added. */
  #text: string | undefined

  constructor(format: ResponseFormatting) {
    this.#format = format
  }

  async *stream(events: AsyncIterable<ReplyEvent>): AsyncGenerator<StreamEvent> {
    for await (const { event, data } of events) {
      if (event === 'message_start') yield* this.#start()
      if (event === 'message_delta') yield* this.#addText(data.text)
      if (event === 'message_end') yield* this.#end(data.message)
      if (event === 'error') yield this.#fail(new CadreError(data.code, data.error, { hint: data.hint }))
    }
  }

  *#start(): Generator<StreamEvent> {
    const response = createResponse(this.#format, { status: 'in_progress', output: [] })
    yield this.#create('response.created', { response })
    yield this.#create('response.in_progress', { response })
  }

  *#addText(delta: string): Generator<StreamEvent> {
    if (this.#text === undefined) yield* this.#addMessage()
    this.#text += delta
    yield this.#create('response.output_text.delta', { ...this.#place, delta, logprobs: [] })
  }

  *#addMessage(): Generator<StreamEvent> {
    this.#text = ''
    const { messageId: id } = this.#format
    const item = { type: 'message' as const, id, status: 'in_progress' as const, role: 'assistant' as const, content: [] }
    yield this.#create('response.output_item.added', { output_index: 0, item })
    yield this.#create('response.content_part.added', { ...this.#place, part: formatText('', EMPTY_REPLY) })
  }

  *#end(message: Message): Generator<StreamEvent> {
    const calls = listClientCalls(message, this.#format)
    const sources = getSources(message, this.#format)
    if (sources !== '') yield* this.#addText(sources)
    if (this.#text === undefined && calls.length === 0) yield* this.#addMessage()
    if (this.#text !== undefined) yield* this.#endMessage(message, this.#text)
    const first = this.#text === undefined ? 0 : 1
    for (const [index, call] of calls.entries()) yield* this.#addCall(call, first + index)
    const response = formatResponse(message, this.#format)
    yield this.#create(getStatus(message) === 'incomplete' ? 'response.incomplete' : 'response.completed', { response })
  }

  *#endMessage(message: Message, text: string): Generator<StreamEvent> {
    yield this.#create('response.output_text.done', { ...this.#place, text, logprobs: [] })
    yield this.#create('response.content_part.done', { ...this.#place, part: formatText(text, message) })
    yield this.#create('response.output_item.done', { output_index: 0, item: formatMessage(message, text, this.#format) })
  }

  *#addCall(call: ToolCall, output_index: number): Generator<StreamEvent> {
    const item = formatCall(call)
    const place = { item_id: item.id, output_index }
    yield this.#create('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } })
    yield this.#create('response.function_call_arguments.delta', { ...place, delta: item.arguments })
    yield this.#create('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments })
    yield this.#create('response.output_item.done', { output_index, item })
  }

  #fail(failure: CadreError): StreamEvent {
    const { code, message } = createOpenaiError(failure).error
    const error = { code: code ?? 'server_error', message }
    return this.#create('response.failed', { response: createResponse(this.#format, { status: 'failed', output: [], error }) })
  }

  get #place() {
    return { item_id: this.#format.messageId, output_index: 0, content_index: 0 }
  }

  #create<Name extends keyof ResponseEvents>(name: Name, data: Omit<ResponseEvents[Name], 'type' | 'sequence_number'>): StreamEvent {
    return { event: name, data: { type: name, sequence_number: this.#sequenceNumber++, ...data } }
  }
}
