/** Finds lists in the blocks of a section, with the paragraphs, code and items that belong to their items. */
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import { announces, type Block, parseParts } from '../parse-passage.ts'

const ITEM_NAME = /^\s*(?:[-*+]|\d{1,9}[.)])\s+([^:\n]{1,60}):(?:\s|$)/

/** Indices of the first and the last block. */
export interface List {
  first: number
  last: number
}

/** Blocks below a numbered item in which the next number is looked for. */
const MAX_STEP_BLOCKS = 12

interface OpenList extends List {
  /** Indentation of the marks of its items. */
  indent: number
  /** Undefined for bullets. */
  number: number | undefined
}

/** Returns the list that a block belongs to. */
export const findListAround = (content: string, blocks: readonly Block[], index: number): List | undefined =>
  findLists(content, blocks).find(({ first, last }) => first <= index && index <= last)

/** A list ends at a rule, at another kind of mark, at a number that falls back, and at a paragraph that is not part of an item. */
export function findLists(content: string, blocks: readonly Block[]): List[] {
  const lists: OpenList[] = []
  let open: OpenList | undefined
  for (const [index, block] of blocks.entries()) {
    const above = blocks[index - 1]
    if (above && content.slice(above.end, block.start).trim() !== '') open = undefined
    const indent = measureIndent(content, block)
    if (open && indent > open.indent) {
      if (block.kind === 'item' || block.kind === 'text' || block.kind === 'code') open.last = index
      else open = undefined
    } else if (block.kind === 'item') {
      const number = readNumber(content, block)
      const interrupted = findInterruptedList(lists, index, number)
      if (interrupted) {
        lists.length = lists.indexOf(interrupted) + 1
        open = interrupted
      }
      if (open && continues(open, number)) Object.assign(open, { last: index, indent, number })
      else {
        open = { first: index, last: index, indent, number }
        lists.push(open)
      }
    } else if (open && belongsToLastItem(content, blocks, index, open.number)) open.last = index
    else open = undefined
  }
  return lists
}

const continues = (list: OpenList, number: number | undefined): boolean =>
  (list.number === undefined) === (number === undefined) && (number ?? 0) >= (list.number ?? 0)

/** Returns the numbered list that goes on below the bullets of its last item, although these are not indented. */
function findInterruptedList(lists: readonly OpenList[], index: number, number: number | undefined): OpenList | undefined {
  const [list, bullets] = lists.slice(-2)
  const isBelow = list && bullets?.number === undefined && bullets?.first === list.last + 1 && bullets.last === index - 1
  return isBelow && list.number !== undefined && number === list.number + 1 ? list : undefined
}

/** Of a numbered list, what is not indented belongs to the item if the numbers go on below it, and code if the item announces it. */
function belongsToLastItem(content: string, blocks: readonly Block[], index: number, number: number | undefined): boolean {
  const [above, block] = [blocks[index - 1], blocks[index]] as [Block, Block]
  const text = content.slice(block.start, block.end).trimEnd()
  if (block.kind === 'code' && announces(content.slice(above.start, above.end).trimEnd())) return true
  if (number === undefined || (block.kind !== 'code' && (block.kind !== 'text' || announces(text)))) return false
  const isBullet = (other: Block) => other.kind === 'item' && readNumber(content, other) === undefined
  const below = blocks.slice(index + 1, index + MAX_STEP_BLOCKS).filter((other) => !isBullet(other))
  const next = below.slice(0, 2).find(({ kind }) => kind === 'item')
  return next !== undefined && readNumber(content, next) === number + 1
}

const readNumber = (content: string, { start, end }: Block): number | undefined => {
  const number = /^\s*(\d{1,9})[.)]/.exec(content.slice(start, end))?.[1]
  return number === undefined ? undefined : Number(number)
}

export const measureIndent = (content: string, { start, end }: Block): number => /^[ \t]*/.exec(content.slice(start, end))?.[0].length ?? 0

/** Returns the last sentence above an item: that of the item it belongs to, or that above its list. */
export function findLead(content: string, blocks: readonly Block[], index: number): string | undefined {
  const list = findListAround(content, blocks, index)
  return list && readLastSentence(content, blocks[findParent(content, blocks, index) ?? list.first - 1])
}

/** Returns the index of the item that an item is nested in. */
export function findParent(content: string, blocks: readonly Block[], index: number): number | undefined {
  const list = findListAround(content, blocks, index)
  if (!list) return undefined
  const indent = measureIndent(content, blocks[index] as Block)
  const parent = blocks.findLastIndex(
    (block, other) => other < index && other >= list.first && block.kind === 'item' && measureIndent(content, block) < indent,
  )
  return parent < 0 ? undefined : parent
}

/** Returns the index of the last block that is nested in an item. Bullets below a numbered item need no indentation. */
export function findNestedEnd(content: string, blocks: readonly Block[], index: number): number | undefined {
  const item = blocks[index]
  if (item?.kind !== 'item') return undefined
  const indent = measureIndent(content, item)
  const isNumbered = readNumber(content, item) !== undefined
  const isNested = (block: Block) =>
    (/^(?:item|text|code)$/.test(block.kind) && measureIndent(content, block) > indent) ||
    (isNumbered && block.kind === 'item' && readNumber(content, block) === undefined)
  const end = blocks.findIndex((block, other) => other > index && !isNested(block))
  const last = (end < 0 ? blocks.length : end) - 1
  return last > index ? last : undefined
}

/** Returns the name of the item that a paragraph below it belongs to: "- `retries`: …". */
export function findItemName(content: string, blocks: readonly Block[], index: number): string | undefined {
  const list = blocks[index]?.kind === 'text' ? findListAround(content, blocks, index) : undefined
  const item = list && blocks.slice(list.first, index).findLast(({ kind }) => kind === 'item')
  const name = item && ITEM_NAME.exec(content.slice(item.start, item.end))?.[1]
  return name === undefined ? undefined : stripMarkdown(name)
}

export function readLastSentence(content: string, block: Block | undefined): string | undefined {
  if (block?.kind !== 'text' && block?.kind !== 'item') return undefined
  const last = parseParts(content, [block]).at(-1)
  return last && stripMarkdown(content.slice(last.start, last.end))
}

/** Returns the text of the closest heading above a block. */
export function findHeading(content: string, blocks: readonly Block[], index: number): string | undefined {
  const above = blocks.slice(0, index).findLast(({ kind }) => kind === 'heading')
  return above && stripMarkdown(content.slice(above.start, above.end))
}
