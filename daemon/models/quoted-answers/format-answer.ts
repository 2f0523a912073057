/** Formats answers: a short answer, the quote that contains it, and its citation. */
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import { extractContentWords, isEnglish, isOtherLanguage } from '../../language/content-words.ts'
import { stripMarkdown } from '../../language/parse-markdown.ts'
import type { ContextPassage } from '../chat-model.ts'
import { answerYesOrNo } from './answer-yes-or-no.ts'
import { repeatsQuestion } from './candidates/is-quotable.ts'
import type { QuotableAnswer } from './candidates/list-candidates.ts'
import { isRecord } from './candidates/match-records.ts'
import { cleanAnswer, extendSpan } from './clean-answer.ts'
import { escapeReferences, findRunEnd, fits, formatCode, formatRows, limitBlock, removeIndent } from './format-blocks.ts'
import {
  findHeading,
  findItemName,
  findLead,
  findListAround,
  findNestedEnd,
  findParent,
  type List,
  readLastSentence,
} from './lists/find-list.ts'
import { announces, type Block, type Part, parseParts, type Span } from './parse-passage.ts'
import { asksForList, asksForValue, asksHow, asksYesOrNo, namesOptions } from './question/detect-question-type.ts'
import { containsIdentifier, findIdentifiers } from './question/find-identifiers.ts'
import { fitsQuestion } from './question/fits-question.ts'
import { findOption } from './question/match-subjects.ts'
import { selectValue } from './select-value.ts'

const MAX_SHORT_ANSWER_LENGTH = 100
/** A short answer is omitted if it is most of the sentence. */
const MAX_SHARE_OF_SENTENCE = 0.75
/** Only text without punctuation has longer sentences. */
const MAX_QUOTE_LENGTH = 800
const MIN_QUOTE_LENGTH = 30
const MAX_ITEM_LENGTH = 300
const MAX_LEAD_LENGTH = 150
/** Of the answer to a question in a list of frequent ones, which is quoted as a whole. */
const MAX_ENTRY_LENGTH = 400
/** Names of options, functions and commands. A quote from their section often does not repeat them. */
const NAME = /^[\w.$@:/<>-]*(?:[a-z][A-Z]|[_.$@/-]|\(.*\))[\w.$@:/<>()[\], -]*$/
/** In configuration files, only a number, a quoted text or a single name is clearly a value. */
const VALUE = /\d|^["'“].*["'”]$|^\S+$|^(?:yes|no|true|false|on|off)\b/i
/** A negation in the same clause, at the end of the text before an answer. */
const NEGATION_BEFORE = /(?:\b(?:no(?! (?:later|more|less|fewer) than)|not|never|none|nobody|neither|nor|cannot)|n['’]t)\b[^,;:.()]*$/i
/** The sentence after it usually names them: "There are three levels. Red is …" */
const COUNTED_THINGS =
  /\b(?:two|three|four|five|six|seven|eight|nine|ten|several|various|\d{1,2})\s+(?:\p{L}+\s+)?(\p{L}+s)\b(?!\s*[:,(])/iu
const FIELD = /^\s*[-*+]\s+[*_`]*\p{L}[\p{L} ]{0,20}[*_`]*:/u
/** Pieces of tables, rules and tags. */
const MARKUP = /\||-{3}|={3}|<\/?[a-z]+[^<>]*>|\]\(/i

export function formatAnswer(question: string, answer: QuotableAnswer, passage: ContextPassage): string {
  const quote = quoteAnswer(question, answer, passage)
  const short = findBoldAnswer(question, answer, passage)
  return short === undefined ? quote : `**${escapeReferences(short)}**\n\n${quote}`
}

/** Returns yes, no, or the words that answer the question. Undefined if only the whole quote does. */
function findBoldAnswer(question: string, answer: QuotableAnswer, { content, headings = [] }: ContextPassage): string | undefined {
  // In other languages the reading model finds sentences, but not the words in them.
  if (!isEnglish(question) || isOtherLanguage(question, content)) return undefined
  const { part, span, blocks } = answer
  const lead = findItemLead(content, part, blocks)
  const quote = `${lead ?? ''} ${content.slice(part.start, part.end)}`
  const option = findOption(part, content)
  if (asksYesOrNo(question) && !hasValue(part, content, span.start)) {
    // What an option does says nothing about the command without it.
    const isOfOption =
      option === undefined || option.match(/[\p{L}\p{N}]{2,}/gu)?.some((name) => containsIdentifier(question, name.toLowerCase()))
    const label = part.block.kind === 'field' ? (quote.split(':', 1)[0] as string) : ''
    return isOfOption ? answerYesOrNo(question, quote, [...headings, option ?? '', label]) : undefined
  }
  if (findList(question, answer, content) && !asksForValue(question)) return undefined
  const before = content.slice(part.start, Math.max(part.start, span.start))
  const after = content.slice(span.end, Math.max(part.end, span.end))
  const short = mayMislead(answer, content, [before, lead ?? '']) ? undefined : getShortAnswer(question, answer, content)
  if (short === undefined || repeatsQuestion(new Set(extractContentWords(question)), short)) return undefined
  const extended = extendQuote(question, content, part, blocks, headings)
  if (isQualified(question, content, part, extended)) return undefined
  // What is announced answers such a question, not the words that announce it.
  const isAnnouncement = answer.heading === undefined && announces(content.slice(extended.start, extended.end)) && short.includes(' ')
  return asksForList(question) ||
    (isAnnouncement && !asksForValue(question)) ||
    !fitsQuestion(question, { text: short, quote, before, after })
    ? undefined
    : short
}

/** Whether the quote goes on with words of the question that the part with the answer lacks: "Court: £14. On Sundays, it costs £10." */
function isQualified(question: string, content: string, { start, end }: Part, quote: Span): boolean {
  const asked = new Set(extractContentWords(question))
  const said = new Set(extractContentWords(content.slice(start, end)))
  return extractContentWords(content.slice(end, quote.end)).some((word) => asked.has(word) && !said.has(word))
}

/** Returns the quote and its citation. */
export function quoteAnswer(question: string, answer: QuotableAnswer, { content, source, headings = [] }: ContextPassage): string {
  const heading = answer.heading === undefined ? headings.filter((name) => !source.endsWith(name)).at(-1) : undefined
  return formatQuote(question, answer, content, heading, headings)
}

/** For answers of different documents that contradict each other. */
export function formatDisagreement(question: string, answers: readonly QuotableAnswer[], passages: readonly ContextPassage[]): string {
  const parts = answers.map((answer) => formatAnswer(question, answer, passages[answer.passage] as ContextPassage))
  return ['Your documents give different answers.', ...parts].join('\n\n')
}

/** Whether a few words would not answer the question: after "No person may be elected", "more than twice" says the opposite. */
function mayMislead({ span, heading, isClear, part }: QuotableAnswer, content: string, before: readonly string[]): boolean {
  if (heading !== undefined || hasValue(part, content, span.start)) return false
  return !isClear || before.some((text) => NEGATION_BEFORE.test(text.replace(/[:：]$/, '')))
}

/** Returns undefined if the quote alone is as short, or if no part of it is clearly the answer. */
export function getShortAnswer(question: string, { span, heading, part, blocks }: QuotableAnswer, content: string): string | undefined {
  if (heading !== undefined) return cleanAnswer(heading)
  const { kind } = part.block
  const start = Math.max(0, span.start)
  if (hasValue(part, content, start)) return selectValue(question, content, blocks, part.blockIndex, { start, end: span.end })
  // An answer in a heading of the content is above its part.
  const limits = { start: Math.min(content.lastIndexOf('\n', start) + 1, part.start), end: Math.max(span.end, part.end) }
  const { start: from, end: to } = extendSpan(content, { start, end: span.end }, limits)
  if (content.slice(from, to).trim().includes('\n\n')) return undefined
  const short = cleanAnswer(kind === 'setting' ? removeCommentMarks(content.slice(from, to)) : content.slice(from, to))
  const whole = stripMarkdown(content.slice(part.start, part.end))
  if (short === '' || short.length > MAX_SHORT_ANSWER_LENGTH || !/[\p{L}\p{N}]/u.test(short)) return undefined
  if (kind === 'statement') return short.includes(' ') ? undefined : short
  if (kind === 'setting' && !VALUE.test(short)) return undefined
  if (kind === 'code') return short
  return MARKUP.test(short) || short.length > MAX_SHARE_OF_SENTENCE * whole.length ? undefined : short
}

/** Whether the part has columns, or is a setting: one of its values is the answer. */
const hasValue = (part: Part, content: string, position: number): boolean =>
  isRecord(part) || (part.block.kind === 'setting' && !isInComment(content, position))

/** Whether the position is in a line of text, not of a setting. */
function isInComment(content: string, position: number): boolean {
  const start = content.lastIndexOf('\n', position - 1) + 1
  return classifyConfigLine(content.slice(start).split('\n', 1)[0] as string, '', '').kind === 'comment'
}

export const removeCommentMarks = (text: string) => text.replaceAll(/^[ \t]*[#;]+[ \t]?/gm, '')

function formatQuote(
  question: string,
  answer: QuotableAnswer,
  content: string,
  heading: string | undefined,
  headings: readonly string[],
): string {
  const { passage, span, part, lastBlock, blocks } = answer
  const citation = `[${passage + 1}]`
  const { blockIndex, block } = part
  if (block.kind === 'row') {
    const [first, last] = (asksForList(question) && findWholeTable(question, content, blocks, blockIndex)) || [blockIndex, lastBlock]
    return `${formatRows(content, blocks, first, last)}\n\n${citation}`
  }
  if (block.kind === 'record' || block.kind === 'setting' || block.kind === 'statement')
    return `${formatCode(content, block, span)}\n\n${citation}`
  if (block.kind === 'code') {
    return formatBlock(formatCode(content, block, span), readLastSentence(content, blocks[blockIndex - 1]), citation)
  }
  const list = findList(question, answer, content)
  if (list) {
    const items = limitBlock(removeIndent(content.slice((blocks[list.first] as Block).start, (blocks[list.last] as Block).end)))
    return formatBlock(items, findLead(content, blocks, list.first), citation)
  }
  const extended = extendQuote(question, content, part, blocks, headings)
  const sentence = stripMarkdown(cutSentence(content, extended, span))
  const lead = findItemLead(content, part, blocks)
  const text = escapeReferences(lead === undefined ? sentence : `${lead} … ${sentence}`)
  const closest = findItemName(content, blocks, blockIndex) ?? (NAME.test(heading ?? '') ? heading : undefined)
  const title = findOption(part, content) ? findCommand(content, part, blocks, headings) : closest
  const name = title === undefined || containsIdentifier(text, title.toLowerCase()) ? '' : `${title}: `
  const quote = `${name}“${text}” ${citation}`
  const below = findAnnounced(content, { ...part, ...extended }, blocks) ?? findExample(question, content, part, blocks)
  return below === undefined ? quote : `${quote}\n\n${below}`
}

/** Returns the first and last row of a short table, unless the question names something in it: "List the levels." */
function findWholeTable(question: string, content: string, blocks: readonly Block[], index: number): [number, number] | undefined {
  const first = blocks.slice(0, index).findLastIndex(({ kind }) => kind !== 'row') + 1
  const last = findRunEnd(blocks, index)
  const isShort = fits(content.slice(blocks[first]?.start, blocks[last]?.end))
  return isShort && findIdentifiers(question).length === 0 ? [first, last] : undefined
}

/** Returns the heading that names the command of an option: commands can have the same options. */
function findCommand(content: string, { blockIndex }: Part, blocks: readonly Block[], headings: readonly string[]): string | undefined {
  const closest = findHeading(content, blocks, blockIndex)
  return closest !== undefined && !namesOptions(closest) ? closest : headings.findLast((heading) => !namesOptions(heading))
}

/** Returns the sentence above the list of an item that says little alone: "Not allowed:" above "music". */
function findItemLead(content: string, { block, blockIndex, end }: Part, blocks: readonly Block[]): string | undefined {
  const lead = block.kind === 'item' ? findLead(content, blocks, blockIndex) : undefined
  const isPhrase = end === block.end && !/[.!?:…：]\W*$/.test(content.slice(block.start, end))
  return lead !== undefined && isPhrase && announces(lead) && lead.length <= MAX_LEAD_LENGTH ? lead : undefined
}

/** A block is shown below the sentence that explains it. */
const formatBlock = (block: string, sentence: string | undefined, citation: string) =>
  sentence === undefined ? `${block}\n\n${citation}` : `“${escapeReferences(sentence)}” ${citation}\n\n${block}`

/** Returns the items of an answer that is a list: it has several items, or the sentence above the list is what was asked for. */
function findList(question: string, { part, lastBlock, blocks }: QuotableAnswer, content: string): List | undefined {
  const list = part.block.kind === 'item' ? findListAround(content, blocks, part.blockIndex) : undefined
  if (!list) return undefined
  const { first, last } = list
  const lead = readLastSentence(content, blocks[first - 1]) ?? ''
  const isAnnounced = announces(lead)
  const isNumbered = /^\s*\d/.test(content.slice((blocks[first] as Block).start, (blocks[first] as Block).end))
  const end = Math.min(lastBlock, last)
  const items = { first: part.blockIndex, last: end > part.blockIndex ? findAnnouncedEnd(content, blocks, end) : end }
  // Those that the model does not point at belong to the answer too.
  if (items.last > items.first)
    return (isAnnounced || isNumbered) && fits(content.slice((blocks[first] as Block).start, (blocks[last] as Block).end)) ? list : items
  const words = new Set(extractContentWords(question))
  const countWords = (text: string) => extractContentWords(text).filter((word) => words.has(word)).length
  return isAnnounced && last > first && countWords(lead) > countWords(content.slice(part.start, part.end)) ? list : undefined
}

/** Returns the index of the last item below the item that announces this one. */
function findAnnouncedEnd(content: string, blocks: readonly Block[], index: number): number {
  const parent = findParent(content, blocks, index)
  const isAnnounced = parent !== undefined && announces(readLastSentence(content, blocks[parent]) ?? '')
  return isAnnounced ? (findNestedEnd(content, blocks, parent) ?? index) : index
}

/**
 * A short list item is quoted as a whole, and so is the answer below a heading that is a question. A few words, such as
 * "Default: true", are quoted with the sentence after them.
 */
function extendQuote(question: string, content: string, part: Part, blocks: readonly Block[], headings: readonly string[]): Span {
  const { block } = part
  if (isBelowQuestion(content, part, blocks, headings) && block.end - block.start <= MAX_ENTRY_LENGTH) return block
  const isShortItem = block.kind === 'item' && block.end - block.start <= MAX_ITEM_LENGTH
  const { start, end } = isShortItem ? { start: (parseParts(content, [block])[0] ?? part).start, end: block.end } : part
  const isAboveItems = /^(?:item|row)$/.test(blocks[part.blockIndex + 1]?.kind ?? '')
  const [, counted = ''] = COUNTED_THINGS.exec(content.slice(start, end)) ?? []
  const isCounted = asksForList(question) && extractContentWords(question).some((word) => extractContentWords(counted).includes(word))
  if (isCounted && !isShortItem && !isAboveItems)
    return { start, end: parseParts(content, [block]).find((other) => other.start >= part.end)?.end ?? end }
  if (end - start >= MIN_QUOTE_LENGTH) return { start, end }
  const next = parseParts(content, blocks.slice(part.blockIndex, part.blockIndex + 2)).find((other) => other.start >= end)
  // What is below a list is no part of its last item, unless the only item has a name and a value, as "Default: true" has.
  const list = block.kind === 'item' ? findListAround(content, blocks, part.blockIndex) : undefined
  const isField = list?.first === list?.last && FIELD.test(content.slice(block.start, block.end))
  const belongs = next?.block.kind === 'text' && (!list || isField || next.start < (blocks[list.last] as Block).end)
  const isSentence = belongs && !announces(content.slice(next.start, next.end)) && findAnnounced(content, part, blocks) === undefined
  return { start, end: isSentence ? next.end : end }
}

function isBelowQuestion(content: string, { block, blockIndex }: Part, blocks: readonly Block[], headings: readonly string[]): boolean {
  const above = blocks[blockIndex - 1]
  const heading = blockIndex === 0 ? headings.at(-1) : above?.kind === 'heading' ? content.slice(above.start, above.end) : undefined
  return block.kind === 'text' && heading !== undefined && /[?？]\W*$/u.test(heading)
}

/** Returns the sentence, or the words around the answer if it is too long. */
function cutSentence(content: string, { start, end }: Span, span: Span): string {
  if (end - start <= MAX_QUOTE_LENGTH) return content.slice(start, end)
  const middle = Math.min(Math.max(span.start, start), end)
  const isAtBeginning = Math.max(span.end, middle) <= start + MAX_QUOTE_LENGTH
  const from = isAtBeginning ? start : Math.max(start, middle - MAX_QUOTE_LENGTH / 2)
  const to = Math.min(end, from + MAX_QUOTE_LENGTH)
  const words = content
    .slice(from, to)
    .replace(from > start ? /^\S{0,100}\s+/ : /^/, '')
    .replace(to < end ? /\s+\S{0,100}$/ : /$/, '')
  return `${from > start ? '… ' : ''}${words}${to < end ? ' …' : ''}`
}

/** Returns the list, table, paragraphs or code right below a sentence that announces them, or code that belongs to its paragraph. */
function findAnnounced(content: string, part: Part, blocks: readonly Block[]): string | undefined {
  const { blockIndex, block } = part
  const next = blocks[blockIndex + 1]
  const isLast = content.slice(part.end, block.end).trim() === ''
  if (!next || !isLast) return undefined
  if (next.kind === 'code') return next.isComplete ? formatCode(content, next, next) : undefined
  if (!announces(content.slice(part.start, part.end))) return undefined
  const last = block.kind === 'item' ? findNestedEnd(content, blocks, blockIndex) : findListAround(content, blocks, blockIndex + 1)?.last
  if (last !== undefined) return limitBlock(removeIndent(content.slice(next.start, blocks[last]?.end)))
  if (next.kind === 'row') return formatRows(content, blocks, blockIndex + 1, findRunEnd(blocks, blockIndex + 1))
  const announced = blocks.slice(blockIndex + 1, findRunEnd(blocks, blockIndex + 1) + 1)
  const tooLong = announced.findIndex((block) => !fits(content.slice(next.start, block.end)))
  const end = next.kind === 'text' ? announced.slice(0, tooLong < 0 ? undefined : tooLong).at(-1)?.end : undefined
  return end === undefined ? undefined : escapeReferences(content.slice(next.start, end))
}

/** Returns the table or code that lists what was asked for, or the example below the paragraph, also if "Example:" is between them. */
function findExample(question: string, content: string, { block, blockIndex }: Part, blocks: readonly Block[]): string | undefined {
  const next = blocks[blockIndex + 1]
  const isListed = asksForList(question) && announces(content.slice(block.start, block.end).trimEnd())
  if (next?.kind === 'row' && asksForList(question)) return formatRows(content, blocks, blockIndex + 1, findRunEnd(blocks, blockIndex + 1))
  const code = next?.kind === 'text' && announces(content.slice(next.start, next.end)) ? blocks[blockIndex + 2] : next
  return (asksHow(question) || isListed) && code?.kind === 'code' && code.isComplete ? formatCode(content, code, code) : undefined
}
