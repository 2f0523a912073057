/** Reads the items of a list. */
import type { Block } from '../parse-passage.ts'
import { type List, measureIndent } from './find-list.ts'
import { formatItem } from './format-list.ts'

export const NUMBERED_ITEM = /^\d{1,9}[.)]\s/

/** Returns the items as they are written, each with its paragraphs, code and the items below it. */
export function readItems(content: string, blocks: readonly Block[], { first, last }: List): string[] {
  const listed = blocks.slice(first, last + 1)
  const items = listed.filter(({ kind }) => kind === 'item')
  const indent = items.reduce((least, item) => Math.min(least, measureIndent(content, item)), Number.POSITIVE_INFINITY)
  const isNumbered = (item: Block) => NUMBERED_ITEM.test(content.slice(item.start, item.end).trimStart())
  // Bullets that are not indented belong to the step above them.
  const hasNumbers = items[0] !== undefined && isNumbered(items[0])
  const starts = items
    .filter((item) => measureIndent(content, item) <= indent && (!hasNumbers || isNumbered(item)))
    .map(({ start }) => start)
  return starts.map((start, index) => formatItem(content.slice(start, starts[index + 1] ?? listed.at(-1)?.end), indent))
}
