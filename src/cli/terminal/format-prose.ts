/** Wraps text written by a model, except code and tables, and highlights citations. */
import { paint } from './color.ts'
import { StreamWrapper } from './stream-wrapper.ts'
import type { Output } from './table.ts'
import { sanitizeText } from './text.ts'

/** Longer lines are hard to read. */
export const MAX_PROSE_COLUMNS = 100

export function createProseWrapper(output: () => Output): StreamWrapper {
  const mark = (word: string) => word.replace(/\[\d+\]/g, (citation) => paint('cyan', citation, output().stream))
  return new StreamWrapper(() => Math.min(output().columns, MAX_PROSE_COLUMNS), mark)
}

/** Without a terminal, lines are not wrapped. */
export function formatProse(text: string, output: Output): string {
  if (output.columns === Number.POSITIVE_INFINITY) return sanitizeText(text).trimEnd()
  const flow = createProseWrapper(() => output)
  return (flow.push(text.trimEnd()) + flow.end()).trimEnd()
}
