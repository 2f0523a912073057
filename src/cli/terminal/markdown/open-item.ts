/** The rest of a list item whose start was written: how it is parsed and rendered with the nesting of the item. */
import type { Tokens } from 'marked'
import { type Line, toPlainText } from './styled-text.ts'

/** Stands for the text that was written. */
const WRITTEN = '\uE000'
const MARKER = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}|\t|$)/

/** Formats the start of the last item of a list, so that the text after `written` is parsed as its rest. */
export function formatOpenItem(list: Tokens.List, written: string): string {
  const markers = findMarkers(list)
  // The rest starts on a line of its own. Within a line, it is indented like the text of the item.
  return `${markers}${WRITTEN}\\\n${written.endsWith('\n') ? '' : ' '.repeat(markers.length)}`
}

/** The markers of the last item and of the last items that it contains. */
function findMarkers({ items }: Tokens.List): string {
  const last = items.at(-1)
  const [marker = ''] = MARKER.exec(last?.raw ?? '') ?? []
  const inner = last?.tokens.findLast(({ type }) => type !== 'space')
  return inner?.type === 'list' ? marker + findMarkers(inner as Tokens.List) : marker
}

/** Removes the lines of the start of the item. */
export const removeItemStart = (lines: readonly Line[]): Line[] =>
  lines.slice(lines.findIndex((line) => toPlainText(line).includes(WRITTEN)) + 1)
