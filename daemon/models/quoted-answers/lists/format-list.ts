/** Formats the items of a quoted list. */
import { closesFence, parseFence } from '../../../language/parse-markdown.ts'
import { escapeReferences } from '../format-blocks.ts'

export interface QuotedList {
  /** The sentence or heading above the items. */
  lead: string
  items: readonly string[]
  /** Whether the list goes on beyond the text that was read. */
  isPartial: boolean
}

const MIN_ITEMS = 2
const MAX_ITEMS = 20
/** The items of longer lists are shortened. */
const MAX_LIST_LENGTH = 3_000
const MAX_ITEM_LENGTH = 300
const IMAGE = /!\[[^\]]{0,1000}\](?:\([^)]{0,1000}\)|\[[^\]]{0,200}\])/g

export const createList = (lead: string, items: readonly string[], isPartial = false): QuotedList | undefined =>
  items.length < MIN_ITEMS ? undefined : { lead, items, isPartial }

export function formatList({ lead, items, isPartial }: QuotedList, number: number): string {
  const first = items.slice(0, MAX_ITEMS)
  const isLong = first.reduce((sum, { length }) => sum + length, 0) > MAX_LIST_LENGTH
  const shown = (isLong ? first.map(shortenItem) : first).map(escapeReferences)
  const more = items.length > MAX_ITEMS ? [`- … and ${items.length - MAX_ITEMS} more`] : []
  const count = `${isPartial ? 'at least ' : ''}${items.length} items`
  return [`“${escapeReferences(lead)}” [${number}] (${count})\n`, ...shown, ...more].join('\n')
}

/** Removes the indentation of the list and images, and joins lines that were wrapped, but not those of code. */
export function formatItem(text: string, indent: number): string {
  const lines = text.trimEnd().split('\n')
  let fence: string | undefined
  let item = ''
  for (const [index, line] of lines.entries()) {
    const kept = line.slice(Math.min(indent, line.length - line.trimStart().length))
    const isWrapped =
      fence === undefined && index > 0 && /\S$/.test(item) && /^\s*[\p{L}\p{N}(]/u.test(line) && !/^\s*\d{1,9}[.)]\s/.test(line)
    item += index === 0 ? kept : isWrapped ? ` ${kept.trimStart()}` : `\n${kept}`
    if (fence === undefined) fence = parseFence(line)?.fence
    else if (closesFence(line, fence)) fence = undefined
  }
  return item.replaceAll(IMAGE, '').replace(/^[*+•]/, '-')
}

function shortenItem(item: string): string {
  const first = item.split(/\n\s*(?:\n|`{3}|~{3}|[-*+]\s)/, 1)[0] as string
  const kept = first.slice(0, MAX_ITEM_LENGTH)
  return kept.length < item.length ? `${kept} …` : item
}
