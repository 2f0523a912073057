/** Limits what an MCP server sends, before it is parsed and before it is validated, so that it cannot occupy the daemon. */
import type { ResponseHead } from '../../outbound/guarded-fetch.ts'

const WINDOW_MS = 10_000
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** Validating as many takes half a second, if they are valid. */
const MAX_MESSAGE_VALUES = 30_000
/**
 * Elements of lists that the MCP SDK validates one by one. It describes each invalid one, in several thousand characters if it is a
 * block of content: those of 14,500 blocks took two seconds, those of as many as here take about half a second. Results have fewer:
 * 500 tools with an icon of one size each are 1,500 elements.
 */
const MAX_MESSAGE_ELEMENTS = 2_000
/** The SDK accepts any values here, and a result may contain many. */
const UNVALIDATED = ['structuredContent', 'inputSchema', 'outputSchema', '_meta']
/** The SDK keeps the whole body of a response that it does not parse. A stream without a request lasts as long as the connection. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

interface Amounts {
  bytes: number
  messages: number
  /** Values of JSON. */
  values: number
  elements: number
}

const NOTHING: Amounts = { bytes: 0, messages: 0, values: 0, elements: 0 }
const TRAFFIC_LIMITS: readonly { name: keyof Amounts; most: number; text: string }[] = [
  { name: 'bytes', most: 32 * 1024 * 1024, text: '32 MB' },
  { name: 'messages', most: 2_000, text: '2000 messages' },
  { name: 'values', most: 100_000, text: '100000 values' },
  { name: 'elements', most: 4_000, text: '4000 elements of lists' },
]

/** Limits all messages within ten seconds. */
export class TrafficLimit {
  #windowStart = 0
  #sent = { ...NOTHING }

  /** Returns what was exceeded, if anything. */
  count(added: Partial<Amounts>, now = performance.now()): string | undefined {
    if (now - this.#windowStart > WINDOW_MS) {
      this.#windowStart = now
      this.#sent = { ...NOTHING }
    }
    for (const { name } of TRAFFIC_LIMITS) this.#sent[name] += added[name] ?? 0
    const exceeded = TRAFFIC_LIMITS.find(({ name, most }) => this.#sent[name] > most)
    return exceeded && `sent more than ${exceeded.text} within ${WINDOW_MS / 1000} s`
  }

  /** To be called with each parsed message before the SDK validates it. */
  countElements(message: unknown, now?: number): string | undefined {
    const elements = countElements((message as { result?: unknown } | null)?.result)
    if (elements > MAX_MESSAGE_ELEMENTS) return `sent a message with more than ${MAX_MESSAGE_ELEMENTS} elements of lists`
    return this.count({ elements }, now)
  }
}

/** Not recursive, because the result may nest deeply. */
function countElements(result: unknown): number {
  let elements = 0
  const values = [result]
  while (values.length > 0) {
    const value = values.pop()
    if (value === null || typeof value !== 'object') continue
    if (Array.isArray(value)) elements += value.length
    for (const [name, part] of Object.entries(value)) if (!UNVALIDATED.includes(name)) values.push(part)
  }
  return elements
}

/** Where messages end: with a line, with an empty line (server-sent events), or with the response. */
export type MessageEnd = 'line' | 'empty line' | 'response'

const EVENT_STREAM = 'text/event-stream'
const NEWLINE = 0x0a
const RETURN = 0x0d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const OPENING_BRACE = 0x7b

/** Limits each message of a stream, and all of them. Counts values by commas and opening brackets outside of strings. */
export class MessageLimit {
  readonly #traffic: TrafficLimit
  readonly #end: MessageEnd
  #bytes = 0
  #values = 0
  #lineBytes = 0
  #isInString = false
  #isEscaped = false

  constructor(traffic: TrafficLimit, end: MessageEnd) {
    this.#traffic = traffic
    this.#end = end
  }

  /** Returns what was exceeded, if anything. */
  count(part: Uint8Array): string | undefined {
    let values = 0
    for (const byte of part) {
      this.#bytes++
      if (byte === NEWLINE || byte === RETURN) this.#endLine(byte)
      else {
        this.#lineBytes++
        if (this.#isValue(byte)) {
          values++
          if (++this.#values > MAX_MESSAGE_VALUES) return `sent a message with more than ${MAX_MESSAGE_VALUES} values`
        }
      }
      if (this.#bytes > MAX_MESSAGE_BYTES) return `sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB`
    }
    return this.#traffic.count({ bytes: part.length, values })
  }

  /** Strings of JSON contain no line breaks. So a quote on a line that is not JSON does not hide the values of the next. */
  #endLine(byte: number): void {
    this.#isInString = false
    this.#isEscaped = false
    if (this.#end === 'line' ? byte === NEWLINE : this.#end === 'empty line' && this.#lineBytes === 0) {
      this.#bytes = 0
      this.#values = 0
    }
    // The line feed of \r\n ends no line of its own.
    if (byte === NEWLINE || this.#end !== 'empty line') this.#lineBytes = 0
  }

  #isValue(byte: number): boolean {
    if (!this.#isInString) {
      this.#isInString = byte === QUOTE
      return byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE
    }
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
    return false
  }
}

/** Limits the bodies of responses. `report` receives what was exceeded. */
export const createResponseLimit =
  (traffic: TrafficLimit, report = (exceeded: string | undefined) => exceeded) =>
  (head: ResponseHead): ((part: Uint8Array) => string | undefined) => {
    const limit = new MessageLimit(traffic, isStream(head) ? 'empty line' : 'response')
    let bytes = 0
    return (part) => {
      bytes += part.length
      const isTooLong = bytes > MAX_RESPONSE_BYTES && head.accept !== EVENT_STREAM
      return report(isTooLong ? `sent a response of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MB` : limit.count(part))
    }
  }

/**
 * Whether the SDK reads a response as events. It reads all others as one JSON value, in which an empty line ends nothing: those of
 * another type, whatever their parameters contain, those that report an error, and those about OAuth, for which it accepts no events.
 */
const isStream = ({ accept, status, contentType }: ResponseHead): boolean =>
  accept.includes(EVENT_STREAM) && status >= 200 && status < 300 && contentType.split(';', 1)[0]?.trim().toLowerCase() === EVENT_STREAM
