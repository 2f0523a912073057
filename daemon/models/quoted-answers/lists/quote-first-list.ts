/** Quotes the first list of the passages that is what was asked for, up to the end of its section. */
import type { Neighbours } from '../../../core/tool.ts'
import type { ContextPassage } from '../../chat-model.ts'
import { joinSection } from '../extend-to-section.ts'
import { formatList, type QuotedList } from './format-list.ts'

export type FindList = (passage: ContextPassage, content: string) => QuotedList | undefined

/** @param finders undefined if the question does not ask for their lists. */
export async function quoteFirstList(
  passages: readonly ContextPassage[],
  listNeighbours: (index: number) => Promise<Neighbours | undefined>,
  finders: readonly (FindList | undefined)[],
): Promise<string | undefined> {
  for (const find of finders) {
    const index = passages.findIndex((passage) => find?.(passage, passage.content))
    const passage = passages[index]
    if (!find || !passage) continue
    const neighbours = await listNeighbours(index)
    const list = find(passage, neighbours ? joinSection(passage, neighbours).content : passage.content)
    if (list) return formatList(list, index + 1)
  }
  return undefined
}
