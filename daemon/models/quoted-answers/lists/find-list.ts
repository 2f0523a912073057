/** Finds lists in the blocks of a section, with the paragraphs and code of their items. */
import type { Block } from '../parse-passage.ts'

/** Indices of the first and the last block. */
export interface List {
  first: number
  last: number
}

/** Between two items of a numbered list. */
const MAX_UNINDENTED_BLOCKS = 3
const LATER_NUMBER = /^\s*(?!1[.)])\d{1,9}[.)]/

/** Returns the list that a block belongs to. */
export function findListAround(content: string, blocks: readonly Block[], index: number): List | undefined {
  const isItem = (at: number) => blocks[at]?.kind === 'item'
  const belongsToList = (at: number) => isItem(at) || isContinuation(content, blocks, at)
  if (!belongsToList(index)) return undefined
  let [first, last] = [index, index]
  while (belongsToList(first - 1)) first--
  while (first <= index && !isItem(first)) first++ // A paragraph above all items is not part of the list.
  while (belongsToList(last + 1)) last++
  return first > index ? undefined : { first, last }
}

/** Whether a block is a further paragraph, or the code, of the item above it: it is indented, or the numbers go on below it. */
function isContinuation(content: string, blocks: readonly Block[], index: number): boolean {
  const isParagraphOrCode = (block: Block | undefined) => block?.kind === 'text' || block?.kind === 'code'
  const block = blocks[index]
  if (!block || !isParagraphOrCode(block)) return false
  if (/\s/.test(content.charAt(block.start))) return true
  const next = blocks.slice(index + 1, index + 1 + MAX_UNINDENTED_BLOCKS).find((below) => !isParagraphOrCode(below))
  return next?.kind === 'item' && LATER_NUMBER.test(content.slice(next.start, next.end))
}
