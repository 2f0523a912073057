/** Prints streamed Markdown on a terminal: final lines once, and below them those that may still change, drawn again with each piece. */
import { canRedraw } from '../color.ts'
import { formatLine, getProseColumns } from '../format-prose.ts'
import type { Output } from '../table.ts'
import { INITIAL_STREAM, renderStream, type StreamState } from './streaming-markdown.ts'
import { type Line, measureLine } from './styled-text.ts'

const DEFAULT_ROWS = 24

export class MarkdownPrinter {
  readonly #output: () => Output
  #state: StreamState = INITIAL_STREAM
  /** Lines on the screen that may still change. The cursor is at the end of the last one. */
  #live: readonly Line[] = []

  /** `output` is a function because the window can be resized. */
  constructor(output: () => Output) {
    this.#output = output
  }

  /** Returns what to write. */
  push(piece: string): string {
    const output = this.#output()
    const { state, done, live } = renderStream({ ...this.#state, consumed: 0 }, piece, getProseColumns(output), false)
    this.#state = state
    return this.#draw(done, canRedraw(output.stream) ? fitRows(live, output) : [])
  }

  /** Makes the text final, so that other output can follow. */
  end(): string {
    const { done } = renderStream({ ...this.#state, consumed: 0 }, '', getProseColumns(this.#output()), true)
    this.#state = INITIAL_STREAM
    return this.#draw(done, [])
  }

  #draw(done: readonly Line[], live: readonly Line[]): string {
    const output = this.#output()
    const rows = countRows(this.#live, output)
    const erased = rows === 0 ? '' : `\r${rows > 1 ? `\u001b[${rows - 1}A` : ''}\u001b[J`
    this.#live = live
    return erased + done.map((line) => `${formatLine(line, output)}\n`).join('') + live.map((line) => formatLine(line, output)).join('\n')
  }
}

/** The terminal wraps lines that are too long. */
const countRows = (lines: readonly Line[], { columns }: Output) =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(measureLine(line) / columns)), 0)

/** Returns the last lines that fit on the screen: lines above it cannot be drawn again. */
function fitRows(lines: readonly Line[], output: Output): readonly Line[] {
  const rows = (output.stream.rows || DEFAULT_ROWS) - 1
  let first = lines.length
  for (let left = rows; first > 0; first--) {
    left -= countRows(lines.slice(first - 1, first), output)
    if (left < 0) break
  }
  return lines.slice(first)
}
