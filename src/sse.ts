/** Server-Sent Events, encoded and decoded as the HTML standard says; pure, without any connection. */

export interface ServerEvent {
  event: string
  data: string
  id?: string
}

const LINE_END = /[\r\n]/
const UNSAFE = /[\r\n\0]/

/** One event as it goes over the wire. Line ends inside the data become further data lines, so nothing can forge a field. */
export function encodeEvent({ event, data, id }: ServerEvent): string {
  // JSON has its line ends escaped, and nearly everything is JSON.
  if (!UNSAFE.test(event) && !UNSAFE.test(data) && id !== undefined && !UNSAFE.test(id))
    return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
  const field = (name: string, value: string) => `${name}: ${value.replaceAll(/[\r\n\0]/g, ' ')}\n`
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${id === undefined ? '' : field('id', id)}${field('event', event)}${lines.join('')}\n`
}

/** A line that says nothing and keeps the connection open. */
export function encodeComment(text: string): string {
  return `: ${text.replaceAll(/[\r\n]/g, ' ')}\n\n`
}

/** Reads text in pieces of any size; `push` returns the events that became whole. An unfinished event at the end is dropped, as the standard says. */
export class EventDecoder {
  #rest = ''
  #started = false
  /** Whether the rest ends with a CR that is still undecided. */
  #held = false
  #data: string[] = []
  #event = ''
  #id: string | undefined

  push(piece: string): ServerEvent[] {
    // A line that comes in very many pieces is looked through once, when its end is there.
    if (this.#started && !this.#held && !LINE_END.test(piece)) {
      this.#rest += piece
      return []
    }
    let text = this.#rest + piece
    if (!this.#started && text !== '') {
      this.#started = true
      if (text.startsWith('\uFEFF')) text = text.slice(1)
    }
    const events: ServerEvent[] = []
    let start = 0
    let [cr, lf] = [text.indexOf('\r'), text.indexOf('\n')]
    while (cr !== -1 || lf !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      // A CR at the very end may be the first half of CRLF: wait for what follows.
      if (end === cr && end === text.length - 1) break
      const whole = this.#line(text.slice(start, end))
      if (whole) events.push(whole)
      start = end + (text.startsWith('\r\n', end) ? 2 : 1)
      if (cr !== -1 && cr < start) cr = text.indexOf('\r', start)
      if (lf !== -1 && lf < start) lf = text.indexOf('\n', start)
    }
    this.#rest = text.slice(start)
    this.#held = this.#rest.endsWith('\r')
    return events
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    return undefined
  }

  #dispatch(): ServerEvent | undefined {
    const data = this.#data
    const event = this.#event || 'message'
    this.#data = []
    this.#event = ''
    if (data.length === 0) return undefined
    return { event, data: data.join('\n'), ...(this.#id === undefined ? {} : { id: this.#id }) }
  }
}

/** The events of a body, as they arrive. */
export async function* decodeEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new EventDecoder()
  const text = new TextDecoder('utf-8', { ignoreBOM: true }) // the decoder above removes the one BOM that may stand at the start
  for await (const bytes of body) yield* decoder.push(text.decode(bytes, { stream: true }))
}
