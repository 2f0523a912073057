/** Finds the ends of events in the bytes of a response, before they are parsed. */

const EVENT_ENDS = ['\n\n', '\n\r\n', '\r\r']
const DONE = '[DONE]'
/** Always a whole line: JSON has no line breaks inside of strings. */
const DONE_LINE = /[\r\n]data: ?\[DONE\](?=[\r\n]|$)/
/** Enough to find a line or an end that is split between chunks. */
const TAIL_BYTES = 16

export class EventScanner {
  /** Whether the `[DONE]` event was found. */
  isDone = false
  /** Bytes since the end of the last event. */
  eventBytes = 0
  #tail: Buffer = Buffer.from('\n')

  /** Returns the chunk without the bytes after `[DONE]`. */
  scan(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#tail, chunk])
    const done = bytes.includes(DONE) ? DONE_LINE.exec(bytes.toString('latin1')) : null
    if (done) {
      this.isDone = true
      return Buffer.concat([bytes.subarray(this.#tail.length, done.index + done[0].length), Buffer.from('\n\n')])
    }
    const end = Math.max(...EVENT_ENDS.map((mark) => bytes.lastIndexOf(mark)))
    this.eventBytes = end < 0 ? this.eventBytes + chunk.length : bytes.length - end
    this.#tail = bytes.subarray(-TAIL_BYTES)
    return chunk
  }
}
