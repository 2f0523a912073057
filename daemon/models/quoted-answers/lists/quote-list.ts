/** Quotes the list that answers a question in the plural, or the numbered steps that answer one for how to do something. */
import type { Neighbours } from '../../../core/tool.ts'
import { extractContentWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { QuotableAnswer } from '../candidates/list-candidates.ts'
import type { QuotedPassage } from '../extend-to-section.ts'
import { announces, type Block, type Part, parseParts } from '../parse-passage.ts'
import { asksForList, asksForSteps, asksHow, isPlural, namesOptions } from '../question/detect-question-type.ts'
import { findHeading, findListAround, findLists, type List, readLastSentence } from './find-list.ts'
import { createList, formatList, type QuotedList } from './format-list.ts'
import { NUMBERED_ITEM, readItems } from './read-items.ts'

/** A longer paragraph above a list is shortened. */
const MAX_ANNOUNCEMENT_LENGTH = 300
const MIN_COVERAGE = 0.5
/** "Starting the kiln", "To start the kiln:" */
const ACTION = /^(?:to\s|\p{L}+ing\b)/iu
/** A shorter word is the beginning of words that mean something else. */
const MIN_BEGINNING_LENGTH = 5

/** Returns undefined if the answer is not part of a list, nor above one. */
export function quoteList(question: string, quoted: QuotedPassage, neighbours: Neighbours | undefined): string | undefined {
  const asksForAll = asksForList(question)
  if (!asksForAll && !asksForSteps(question)) return undefined
  const list = findItems(question, quoted) ?? (asksForAll ? findSubheadings(question, quoted, neighbours) : undefined)
  const isAnswer = list && (asksForAll || areSteps(question, list, quoted.answer))
  return isAnswer ? formatList(list, quoted.answer.passage + 1) : undefined
}

/** Whether a list has the steps of what was asked for: other items are not all needed, and other steps do something else. */
function areSteps(question: string, { lead, items }: QuotedList, { part }: QuotableAnswer): boolean {
  if (!NUMBERED_ITEM.test(items[0] as string)) return false
  const said = new Set(extractContentWords(lead))
  const words = [...new Set(extractContentWords(question))]
  const shared = words.filter((word) => said.has(word))
  const verb = (question.toLowerCase().match(/\p{L}+/gu) ?? []).find((word) => extractContentWords(word).length > 0) ?? ''
  // "Bleeding the brake" is how to bleed it.
  const isSameAction = lead.toLowerCase().includes(verb.replace(/e$/, '')) || expandQuery(verb).some((other) => said.has(other))
  const isOtherAction = ACTION.test(lead) && shared.length > 0 && !isSameAction
  // A step alone is no answer.
  if (part.block.kind === 'item') return !isOtherAction
  return shared.length >= MIN_COVERAGE * words.length && (isSameAction || !asksHow(question))
}

/** Returns the list that the answer is in, or that is below its paragraph. */
function findItems(question: string, { answer, passage, isCut }: QuotedPassage): QuotedList | undefined {
  const { part, blocks } = answer
  const { content, headings = [] } = passage
  const isAbove = part.block.kind === 'text' && blocks[part.blockIndex + 1]?.kind === 'item'
  const announcement = isAbove ? findAnnouncement(content, part) : undefined
  const named = announcement === undefined ? findNamedItems(question, content, part, blocks) : undefined
  const list =
    named ??
    findListAround(content, blocks, announcement === undefined ? part.blockIndex : part.blockIndex + 1) ??
    findListOfSection(question, content, part, blocks, headings)
  const lead = named
    ? stripMarkdown(content.slice(part.start, part.end))
    : (announcement ?? (list && findTitle(question, content, blocks, list, headings)))
  if (!list || lead === undefined) return undefined
  const isPartial = isCut === true && (list.first === 0 || list.last === blocks.length - 1)
  return createList(lead, readItems(content, blocks, list), isPartial)
}

/** Returns the only list below a paragraph, if the heading above both names what was asked for: "Membership fees". */
function findListOfSection(
  question: string,
  content: string,
  { block, blockIndex }: Part,
  blocks: readonly Block[],
  headings: readonly string[],
) {
  const title = findHeading(content, blocks, blockIndex) ?? headings.at(-1)
  const isTitle =
    title !== undefined &&
    (namesItems(question, title) || ((asksHow(question) || /\bsteps\b/i.test(question)) && sharesWords(question, title)))
  if (block.kind !== 'text' || !isTitle) return undefined
  const end = blocks.findIndex(({ kind }, index) => index > blockIndex && kind === 'heading')
  const lists = findLists(content, blocks).filter(({ first, last }) => first > blockIndex && (end < 0 || last < end))
  return lists.length === 1 ? lists[0] : undefined
}

/** Returns the list right below a paragraph if each of its items begins with a word of the question: "--keep-last", "--keep-daily". */
function findNamedItems(question: string, content: string, { block, blockIndex }: Part, blocks: readonly Block[]): List | undefined {
  const below = block.kind === 'text' ? findLists(content, blocks).find(({ first }) => first === blockIndex + 1) : undefined
  if (!below || below.first === below.last) return undefined
  const names = readItems(content, blocks, below).map(
    (item) =>
      stripMarkdown(item)
        .replace(/^[-*+\s]+/, '')
        .split(/\s/, 1)[0] ?? '',
  )
  return names.every((name) => sharesWords(question, name.replaceAll(/[-_.]+/g, ' '))) ? below : undefined
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
  if (isLast || block.end - start <= MAX_ANNOUNCEMENT_LENGTH) return stripMarkdown(content.slice(start, block.end))
  return [{ start, end }, last].map((span) => stripMarkdown(content.slice(span.start, span.end))).join(' … ')
}

/** Returns what is above a list: a sentence that announces it, or a heading with words of the question. */
function findTitle(question: string, content: string, blocks: readonly Block[], { first }: List, headings: readonly string[]) {
  const sentence = readLastSentence(content, blocks[first - 1])
  const heading = findHeading(content, blocks, first) ?? headings.at(-1)
  if (sentence !== undefined && announces(sentence))
    return namesOptions(sentence) && heading !== undefined ? `${heading}: ${sentence}` : sentence
  const isStep = asksForSteps(question) && NUMBERED_ITEM.test(content.slice(blocks[first]?.start))
  return heading !== undefined && (isStep || sharesWords(question, heading)) ? heading : undefined
}

/** "Deployment" shares a word with "steps to deploy". */
function sharesWords(question: string, text: string): boolean {
  const asked = question.split(/[^\p{L}]+/u).filter((word) => word.length >= MIN_BEGINNING_LENGTH)
  const words = new Set(extractContentWords(question))
  const begins = (word: string) => asked.some((other) => word.toLowerCase().startsWith(other.toLowerCase()))
  return extractContentWords(text).some((word) => words.has(word)) || text.split(/[^\p{L}]+/u).some(begins)
}

/** Whether a heading ends with a noun in the plural that the question has: "Internal systems", but not "Content type parser". */
function namesItems(question: string, heading: string): boolean {
  const noun = /[\p{L}\p{N}]+(?=\P{L}*$)/u.exec(heading)?.[0] ?? ''
  return isPlural(noun) && sharesWords(question, noun)
}

/** Returns the headings one level below, up to the end of the section. */
function listSubheadings(neighbours: Neighbours | undefined, headings: readonly string[]): string[] {
  const following = neighbours?.after ?? []
  const end = following.findIndex(({ headings: path }) => headings.some((heading, level) => path[level] !== heading))
  const section = end < 0 ? following : following.slice(0, end)
  return [...new Set(section.flatMap(({ headings: path }) => path[headings.length] ?? []))].map((heading) => `- ${heading}`)
}
