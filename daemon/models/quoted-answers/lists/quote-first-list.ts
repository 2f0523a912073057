/** Quotes the first list of the passages that is what was asked for, up to the end of its section. */
import type { Neighbours } from '../../../core/tool.ts'
import type { ContextPassage } from '../../chat-model.ts'
import { joinSection } from '../extend-to-section.ts'
import { createList, formatList, type QuotedList } from './format-list.ts'

/** Of a part of the list, one item is enough: the others may be in the next passage. */
export type FoundList = Pick<QuotedList, 'lead' | 'items'>
export type FindList = (passage: ContextPassage, content: string) => FoundList | undefined

/** @param finders in their order; undefined if the question does not ask for their lists. */
export async function quoteFirstList(
  passages: readonly ContextPassage[],
  listNeighbours: (index: number) => Promise<Neighbours | undefined>,
  finders: readonly (FindList | undefined)[],
): Promise<string | undefined> {
  for (const find of finders) {
    for (const [index, passage] of find ? passages.entries() : []) {
      if (!find?.(passage, passage.content)) continue
      const neighbours = await listNeighbours(index)
      const found = find(passage, neighbours ? joinSection(passage, neighbours).content : passage.content)
      const list = found && createList(found.lead, found.items)
      if (list) return formatList(list, index + 1)
    }
  }
  return undefined
}
