/** Quotes the list that answers a question in the plural, also if its items are in the next passages or are headings there. */
import type { FollowingPassage } from '../../core/tool.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { stripMarkdown } from '../../language/parse-markdown.ts'
import type { ContextPassage } from '../chat-model.ts'
import { escapeReferences } from './format-answer.ts'
import type { QuotableAnswer } from './list-candidates.ts'
import { announces, type Block, type Part, parseBlocks, parseParts } from './parse-passage.ts'
import { isPlural } from './question/detect-question-type.ts'
import { joinPassages } from './read-announced.ts'

interface QuotedList {
  /** The sentence or heading above the items. */
  lead: string
  items: readonly string[]
}

const MAX_ITEMS = 20
const MAX_ITEM_LENGTH = 300
const MIN_ITEMS = 2

/** Returns undefined if the answer is not part of a list, nor above one. */
export async function quoteList(
  question: string,
  answer: QuotableAnswer,
  passage: ContextPassage,
  readOn: () => Promise<readonly FollowingPassage[]>,
): Promise<string | undefined> {
  const list = await findList(question, answer, passage, readOn)
  return list && formatList(list, answer.passage + 1)
}

function formatList({ lead, items }: QuotedList, number: number): string {
  const shown = items.slice(0, MAX_ITEMS).map((item) => `- ${escapeReferences(item)}`)
  const more = items.length > MAX_ITEMS ? [`- … and ${items.length - MAX_ITEMS} more`] : []
  return [`“${escapeReferences(lead)}” [${number}] (${items.length} items)\n`, ...shown, ...more].join('\n')
}

async function findList(
  question: string,
  answer: QuotableAnswer,
  passage: ContextPassage,
  readOn: () => Promise<readonly FollowingPassage[]>,
): Promise<QuotedList | undefined> {
  const { headings = [] } = passage
  const { content, blocks, part } = await extendToSection(answer, passage, readOn)
  const isItem = (index: number) => blocks[index]?.kind === 'item'
  const announcement = part.block.kind === 'text' && isItem(part.blockIndex + 1) ? findAnnouncement(content, part) : undefined
  if (isItem(part.blockIndex) || announcement !== undefined) {
    const belongsToList = (index: number) => isItem(index) || isContinuation(content, blocks[index])
    let [first, last] = [isItem(part.blockIndex) ? part.blockIndex : part.blockIndex + 1, part.blockIndex + 1]
    while (belongsToList(first - 1)) first--
    while (!isItem(first)) first++ // A paragraph above all items is not part of the list.
    while (belongsToList(last)) last++
    const lead = announcement ?? findLead(question, content, blocks, first, headings)
    const items = blocks.slice(first, last).filter(({ kind }) => kind === 'item')
    return lead === undefined ? undefined : createList(lead, readItems(content, items))
  }
  const sentence = stripMarkdown(content.slice(part.start, part.end))
  const isEnd =
    content.slice(part.end, part.block.end).trim() === '' && blocks.slice(part.blockIndex + 1).every(({ kind }) => kind === 'heading')
  if (part.block.kind === 'text' && announces(sentence) && isEnd) return createList(sentence, listSubheadings(await readOn(), headings))
  // A section whose heading is what was asked for, and which consists of sections.
  const title = headings.at(-1)
  if (title === undefined || !namesItems(question, title)) return undefined
  return createList(title, listSubheadings(await readOn(), headings))
}

/** Adds the rest of the section if a list may go on there, or begin. */
async function extendToSection(
  { part, blocks }: QuotableAnswer,
  { content, headings = [], source }: ContextPassage,
  readOn: () => Promise<readonly FollowingPassage[]>,
): Promise<{ content: string; blocks: readonly Block[]; part: Part }> {
  const last = blocks.at(-1)
  if (last?.kind !== 'item' && last?.start !== part.block.start) return { content, blocks, part }
  const following = await readOn()
  const end = following.findIndex(({ headings: path }) => path.join('\n') !== headings.join('\n'))
  const section = (end < 0 ? following : following.slice(0, end)).reduce((text, next) => joinPassages(text, next.content), content)
  const all = parseBlocks(section, source)
  const block = all[part.blockIndex]
  // Code that is cut at both ends can be parsed in another way.
  return block?.start === part.block.start ? { content: section, blocks: all, part: { ...part, block } } : { content, blocks, part }
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

/** Whether a block is a further paragraph of the item above it. */
const isContinuation = (content: string, block: Block | undefined) => block?.kind === 'text' && /\s/.test(content.charAt(block.start))

const createList = (lead: string, items: readonly string[]) => (items.length < MIN_ITEMS ? undefined : { lead, items })

/** Returns what is above a list: a sentence that announces it, or a heading with words of the question. */
function findLead(question: string, content: string, blocks: readonly Block[], first: number, headings: readonly string[]) {
  const above = blocks[first - 1]
  const last = above?.kind === 'text' ? parseParts(content, [above]).at(-1) : undefined
  const sentence = last && stripMarkdown(content.slice(last.start, last.end))
  if (sentence?.endsWith(':')) return sentence
  const heading = above?.kind === 'heading' ? stripMarkdown(content.slice(above.start, above.end)) : headings.at(-1)
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

/** Without the items below others. */
function readItems(content: string, items: readonly Block[]): string[] {
  const measureIndent = ({ start }: Block) =>
    start - (content.lastIndexOf('\n', start - 1) + 1) + (/^\s*/.exec(content.slice(start))?.[0].length ?? 0)
  const least = Math.min(...items.map(measureIndent))
  return items.filter((item) => measureIndent(item) <= least).map((item) => formatItem(content.slice(item.start, item.end)))
}

function formatItem(text: string): string {
  const plain = stripMarkdown(text.replace(/^\s*(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/, ''), { keepsCode: true })
  return plain.length > MAX_ITEM_LENGTH ? `${plain.slice(0, MAX_ITEM_LENGTH)} …` : plain
}

/** Returns the headings one level below, up to the end of the section. */
function listSubheadings(following: readonly FollowingPassage[], headings: readonly string[]): string[] {
  const end = following.findIndex(({ headings: path }) => headings.some((heading, level) => path[level] !== heading))
  const section = end < 0 ? following : following.slice(0, end)
  return [...new Set(section.flatMap(({ headings: path }) => path[headings.length] ?? []))]
}
