/** Encodes and decodes Server-Sent Events. */
import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  event: string
  data: string
  id?: string
}

const LINE_END = /\r\n|\r|\n/
const UNSAFE = /[\r\n\0]/
/** The parser creates an Error for each unknown line, so a hostile server could block the process with a few megabytes of them. */
const MAX_UNKNOWN_LINES = 1_000
/** Larger than any event of a daemon or a provider. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024

/** Splits data at line ends into several data fields and removes line ends from names, so that no text can forge a field. */
export function encodeEvent({ event, data, id }: ServerEvent): string {
  // Fast path: JSON escapes its line ends.
  if (!UNSAFE.test(event) && !UNSAFE.test(data) && id !== undefined && !UNSAFE.test(id))
    return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
  const field = (name: string, value: string) => `${name}: ${value.replaceAll(/[\r\n\0]/g, ' ')}\n`
  const lines = data.split(LINE_END).map((line) => `data: ${line}\n`)
  return `${id === undefined ? '' : field('id', id)}${field('event', event)}${lines.join('')}\n`
}

/** Clients ignore comments; they keep the connection open. */
export function encodeComment(text: string): string {
  return `: ${text.replaceAll(/[\r\n]/g, ' ')}\n\n`
}

/** Decodes text in pieces of any size. An incomplete event at the end is dropped, as the HTML standard requires. */
export class EventDecoder {
  #isStarted = false
  #endsWithCr = false
  #lastId: string | undefined
  #unknownLines = 0
  /** Characters since the last event. */
  #length = 0
  #events: ServerEvent[] = []
  readonly #parser = createParser({
    onEvent: ({ event = 'message', data, id }) => {
      this.#unknownLines = 0
      this.#length = 0
      this.#lastId = id ?? this.#lastId
      this.#events.push({ event, data, ...(this.#lastId === undefined ? {} : { id: this.#lastId }) })
    },
    onError: () => {
      if (++this.#unknownLines > MAX_UNKNOWN_LINES) throw new Error('The response is not an event stream.')
    },
  })

  /** Returns the events that the text completes. */
  push(text: string): ServerEvent[] {
    this.#events = []
    this.#length += text.length
    if (this.#length > MAX_EVENT_LENGTH) throw new Error(`An event of the stream is larger than ${MAX_EVENT_LENGTH / 1024 / 1024} MB.`)
    this.#parser.feed(this.#normalizeLineEnds(!this.#isStarted && text.startsWith('\uFEFF') ? text.slice(1) : text))
    this.#isStarted ||= text !== ''
    return this.#events
  }

  /** In text with CR, the parser searches each line for the next CR, so that a server could block the process for seconds. */
  #normalizeLineEnds(text: string): string {
    if (!this.#endsWithCr && !text.includes('\r')) return text
    const pending = this.#endsWithCr ? `\r${text}` : text
    // A CR at the end may be the first half of CRLF.
    this.#endsWithCr = pending.endsWith('\r')
    return (this.#endsWithCr ? pending.slice(0, -1) : pending).replaceAll(/\r\n?/g, '\n')
  }
}

/** Yields the events of a response body as they arrive. */
export async function* decodeEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new EventDecoder()
  const text = new TextDecoder()
  for await (const bytes of body) yield* decoder.push(text.decode(bytes, { stream: true }))
}
