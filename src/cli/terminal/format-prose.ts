/** What a model wrote, on paper: broken between words, its code and tables as they are, its citations marked. */
import { paint } from './color.ts'
import { StreamWrapper } from './stream-wrapper.ts'
import type { Output } from './table.ts'
import { sanitizeText } from './text.ts'

/** Texts are read in lines of about this many columns. */
export const MAX_PROSE_COLUMNS = 100

/** How text flows onto a terminal as it comes. */
export function createProseWrapper(paper: () => Output): StreamWrapper {
  const mark = (word: string) => word.replace(/\[\d+\]/g, (citation) => paint('cyan', citation, paper().stream))
  return new StreamWrapper(() => Math.min(paper().columns, MAX_PROSE_COLUMNS), mark)
}

/** A whole text; without a terminal its lines stay as they are. */
export function formatProse(text: string, paper: Output): string {
  if (paper.columns === Number.POSITIVE_INFINITY) return sanitizeText(text).trimEnd()
  const flow = createProseWrapper(() => paper)
  return (flow.push(text.trimEnd()) + flow.end()).trimEnd()
}
