/** Quotes the list that answers a question in the plural, or the numbered steps that answer one for how to do something. */
import type { Neighbours } from '../../../core/tool.ts'
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { QuotedPassage } from '../extend-to-section.ts'
import { escapeReferences } from '../format-blocks.ts'
import { announces, type Block, type Part, parseParts } from '../parse-passage.ts'
import { asksForList, asksForSteps, isPlural } from '../question/detect-question-type.ts'
import { findListAround, type List } from './find-list.ts'

export interface QuotedList {
  /** The sentence or heading above the items. */
  lead: string
  items: readonly string[]
}

const MAX_ITEMS = 20
const MAX_ITEM_LENGTH = 300
/** Longer lists have shorter items. */
const MAX_LIST_LENGTH = 3_000
const MIN_ITEMS = 2
const NUMBERED_ITEM = /^\d{1,9}[.)]\s/

/** Returns undefined if the answer is not part of a list, nor above one. */
export function quoteList(question: string, quoted: QuotedPassage, neighbours: Neighbours | undefined): string | undefined {
  const asksForAll = asksForList(question)
  if (!asksForAll && !asksForSteps(question)) return undefined
  const list = findItems(question, quoted) ?? (asksForAll ? findSubheadings(question, quoted, neighbours) : undefined)
  // Other items than steps of what was asked for are not all needed to do something.
  const isAnswer = list && (asksForAll || (NUMBERED_ITEM.test(list.items[0] as string) && sharesWords(question, list.lead)))
  return isAnswer ? formatList(list, quoted.answer.passage + 1) : undefined
}

export function formatList({ lead, items }: QuotedList, number: number): string {
  const shown = items.slice(0, MAX_ITEMS).map(escapeReferences)
  const more = items.length > MAX_ITEMS ? [`- … and ${items.length - MAX_ITEMS} more`] : []
  return [`“${escapeReferences(lead)}” [${number}] (${items.length} items)\n`, ...shown, ...more].join('\n')
}

/** Returns the list that the answer is in, or that is below its paragraph. */
function findItems(question: string, { answer, passage }: QuotedPassage): QuotedList | undefined {
  const { part, blocks } = answer
  const { content, headings = [] } = passage
  const isAbove = part.block.kind === 'text' && blocks[part.blockIndex + 1]?.kind === 'item'
  const announcement = isAbove ? findAnnouncement(content, part) : undefined
  const list = findListAround(content, blocks, announcement === undefined ? part.blockIndex : part.blockIndex + 1)
  const lead = announcement ?? (list && findLead(question, content, blocks, list, headings))
  return list && lead !== undefined ? createList(lead, readItems(content, blocks, list)) : undefined
}

/** Returns the headings below a sentence that announces them, or below a heading that is what was asked for. */
function findSubheadings(
  question: string,
  { answer: { part, blocks }, passage: { content, headings = [] } }: QuotedPassage,
  neighbours: Neighbours | undefined,
): QuotedList | undefined {
  const sentence = stripMarkdown(content.slice(part.start, part.end))
  const isEnd =
    content.slice(part.end, part.block.end).trim() === '' && blocks.slice(part.blockIndex + 1).every(({ kind }) => kind === 'heading')
  const title = headings.at(-1)
  if (part.block.kind === 'text' && announces(sentence) && isEnd) return createList(sentence, listSubheadings(neighbours, headings))
  return title === undefined || !namesItems(question, title) ? undefined : createList(title, listSubheadings(neighbours, headings))
}

/**
 * Returns what announces the list below a paragraph: the text from the part to the list, or the part and the last sentence if the text
 * is long. Undefined if the list is about something else.
 */
function findAnnouncement(content: string, { start, end, block }: Part): string | undefined {
  const last = parseParts(content, [block]).at(-1)
  const isLast = content.slice(end, block.end).trim() === ''
  const sentence = content.slice(last?.start, last?.end)
  const isAnnouncing = announces(sentence) || (isLast && (!/[.!?]$/.test(sentence) || /\b(?:following|these|below)\b/i.test(sentence)))
  if (!last || !isAnnouncing) return undefined
  if (isLast || block.end - start <= MAX_ITEM_LENGTH) return stripMarkdown(content.slice(start, block.end))
  return [{ start, end }, last].map((span) => stripMarkdown(content.slice(span.start, span.end))).join(' … ')
}

export const createList = (lead: string, items: readonly string[]) => (items.length < MIN_ITEMS ? undefined : { lead, items })

/** Returns what is above a list: a sentence that announces it, or a heading with words of the question. */
function findLead(question: string, content: string, blocks: readonly Block[], { first }: List, headings: readonly string[]) {
  const above = blocks[first - 1]
  const last = above?.kind === 'text' ? parseParts(content, [above]).at(-1) : undefined
  const sentence = last && stripMarkdown(content.slice(last.start, last.end))
  if (sentence?.endsWith(':')) return sentence
  const title = blocks.slice(0, first).findLast(({ kind }) => kind === 'heading')
  const heading = title ? stripMarkdown(content.slice(title.start, title.end)) : headings.at(-1)
  return heading !== undefined && sharesWords(question, heading) ? heading : undefined
}

function sharesWords(question: string, text: string): boolean {
  const words = new Set(extractContentWords(question))
  return extractContentWords(text).some((word) => words.has(word))
}

/** Whether a heading ends with a noun in the plural that the question has: "Internal systems", but not "Content type parser". */
function namesItems(question: string, heading: string): boolean {
  const noun = /[\p{L}\p{N}]+(?=\P{L}*$)/u.exec(heading)?.[0] ?? ''
  return isPlural(noun) && sharesWords(question, noun)
}

/** Returns the items as they are written, each with its paragraphs, code and the items below it. Those of long lists are shortened. */
function readItems(content: string, blocks: readonly Block[], { first, last }: List): readonly string[] {
  const measureIndent = ({ start, end }: Block) => /^\s*/.exec(content.slice(start, end))?.[0].length ?? 0
  const listed = blocks.slice(first, last + 1)
  const items = listed.filter(({ kind }) => kind === 'item')
  const indent = Math.min(...items.map(measureIndent))
  const starts = items.filter((item) => measureIndent(item) <= indent).map(({ start }) => start)
  const texts = starts.map((start, index) => formatItem(content.slice(start, starts[index + 1] ?? listed.at(-1)?.end), indent))
  return shorten(texts)
}

export const shorten = (items: readonly string[]): readonly string[] =>
  items.reduce((sum, { length }) => sum + length, 0) > MAX_LIST_LENGTH ? items.map(shortenItem) : items

export const formatItem = (text: string, indent: number): string => {
  const lines = text.trimEnd().split('\n')
  const item = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length))).join('\n')
  const unwrapped = item.includes('```') ? item : item.replaceAll(/(?<=\S)\n(?=[\p{L}\p{N}(])/gu, ' ')
  return unwrapped.replace(/^[*+•]/, '-')
}

function shortenItem(item: string): string {
  const first = item.split(/\n\s*(?:\n|```|[-*+]\s)/, 1)[0] as string
  const kept = first.slice(0, MAX_ITEM_LENGTH)
  return kept.length < item.length ? `${kept} …` : item
}

/** Returns the headings one level below, up to the end of the section. */
function listSubheadings(neighbours: Neighbours | undefined, headings: readonly string[]): string[] {
  const following = neighbours?.after ?? []
  const end = following.findIndex(({ headings: path }) => headings.some((heading, level) => path[level] !== heading))
  const section = end < 0 ? following : following.slice(0, end)
  return [...new Set(section.flatMap(({ headings: path }) => path[headings.length] ?? []))].map((heading) => `- ${heading}`)
}
