/** Formats text written by a model: as Markdown at a terminal, otherwise as it is. */
import { supportsColor } from './color.ts'
import { rewriteReply } from './invocation.ts'
import { renderMarkdown } from './markdown/render-markdown.ts'
import { type Line, toAnsi } from './markdown/styled-text.ts'
import type { Output } from './table.ts'
import { findIncompleteSequence, sanitizeText } from './text.ts'

/** Longer lines are hard to read. */
export const MAX_PROSE_COLUMNS = 100

export const getProseColumns = ({ columns }: Output) => Math.min(columns, MAX_PROSE_COLUMNS)

export const formatLine = (line: Line, { stream }: Output) => toAnsi(line, supportsColor(stream)).trimEnd()

export function formatProse(text: string, output: Output): string {
  const shown = rewriteReply(text).trimEnd()
  if (output.columns === Number.POSITIVE_INFINITY) return sanitizeText(shown)
  const lines = renderMarkdown(shown, getProseColumns(output))
  return lines.map((line) => formatLine(line, output)).join('\n')
}

/** Sanitizes text regardless of how it is split into pieces. */
export class StreamSanitizer {
  #pending = ''

  push(piece: string): string {
    const text = this.#pending + piece
    this.#pending = findIncompleteSequence(text)
    return sanitizeText(text.slice(0, text.length - this.#pending.length))
  }

  end(): string {
    const rest = sanitizeText(this.#pending)
    this.#pending = ''
    return rest
  }
}
