/** Renders text written by a model as Markdown on a terminal, and highlights citations. */
import { paint, supportsColor } from './color.ts'
import { rewriteReply } from './invocation.ts'
import { renderMarkdown } from './markdown/render-markdown.ts'
import { toAnsi } from './markdown/styled-text.ts'
import { StreamWrapper, type TextStyles } from './stream-wrapper.ts'
import type { Output } from './table.ts'
import { sanitizeText } from './text.ts'

/** Longer lines are hard to read. */
export const MAX_PROSE_COLUMNS = 100

export function createProseWrapper(output: () => Output): StreamWrapper {
  const styles: TextStyles = {
    formatWord: (word) => word.replace(/\[\d+\]/g, (citation) => paint('cyan', citation, output().stream)),
    formatBold: (word) => paint('bold', word, output().stream),
    formatCode: (word) => paint('yellow', word, output().stream),
    formatTable: (markdown, columns) => renderMarkdown(markdown, columns).map((line) => toAnsi(line, supportsColor(output().stream))),
  }
  return new StreamWrapper(() => Math.min(output().columns, MAX_PROSE_COLUMNS), styles)
}

/** Without a terminal, the text stays as it is. */
export function formatProse(text: string, output: Output): string {
  const shown = rewriteReply(text).trimEnd()
  if (output.columns === Number.POSITIVE_INFINITY) return sanitizeText(shown)
  const flow = createProseWrapper(() => output)
  return (flow.push(shown) + flow.end()).trimEnd()
}
