/** What a model wrote, on paper: broken between words, its code and tables as they are, its citations marked. */
import { paint } from './color.ts'
import { TextFlow } from './stream-wrapper.ts'
import type { Paper } from './table.ts'
import { printable } from './text.ts'

/** Texts are read in lines of about this many columns. */
export const MAX_PROSE_COLUMNS = 100

/** How text flows onto a terminal as it comes. */
export function createProseWrapper(paper: () => Paper): TextFlow {
  const mark = (word: string) => word.replace(/\[\d+\]/g, (citation) => paint('cyan', citation, paper().stream))
  return new TextFlow(() => Math.min(paper().columns, MAX_PROSE_COLUMNS), mark)
}

/** A whole text; without a terminal its lines stay as they are. */
export function formatProse(text: string, paper: Paper): string {
  if (paper.columns === Number.POSITIVE_INFINITY) return printable(text).trimEnd()
  const flow = createProseWrapper(() => paper)
  return (flow.push(text.trimEnd()) + flow.end()).trimEnd()
}
