/** Lists what a passage could answer: each of its parts, with what speaks for it. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Reading } from '../../../inference/model-task.ts'
import { extractContentWords } from '../../../language/content-words.ts'
import { findLists, readLastSentence } from '../lists/find-list.ts'
import { announces, type Block, type Part, parseBlocks, parseParts, type Span } from '../parse-passage.ts'
import { asksForNegation, asksYesOrNo, containsNegation, mayAskForCode } from '../question/detect-question-type.ts'
import { computeOverlap, findCovered, weightWords } from '../question/question-words.ts'
import { findSpan, findWord } from './find-span.ts'
import { asksAboutMail, isIncomplete, isMailHeader, isSalutation } from './is-quotable.ts'
import { matchRecords, type RecordMatch } from './match-records.ts'
import { type Asked, announcesOnlyCode, findEvidence, isBelowHeading, type QuotablePart, saysNothing } from './quotable-part.ts'

export interface ReadPassage {
  content: string
  /** The reading model cannot read a question in one language and a passage in another one. */
  isReadable: boolean
  /** Name of the document. */
  source: string
  /** The text that was read: headings and content. */
  text: string
  contentStart: number
  /** Content words of the text. */
  words: ReadonlySet<string>
  reading: Reading
}

/** What is quoted of a passage. */
export interface QuotableAnswer {
  /** Index of the passage. */
  passage: number
  /** Characters of the answer in the content. */
  span: Span
  /** The answer if it is in the headings above the content; the span is empty then. */
  heading: string | undefined
  /** Whether the model clearly prefers these words to others of the part. */
  isClear: boolean
  /** The part that contains the beginning of the answer, or the first one below the heading that is the answer. */
  part: Part
  /** Index of the last block of the answer, which may be a list or several rows. */
  lastBlock: number
  blocks: readonly Block[]
}

/** What speaks for an answer. */
export interface Features {
  /** Score of the reading model for the part, over "no answer". */
  reading: number
  /** Score of the reading model for the passage being about the question. */
  relevance: number
  /** Shares of the question's words in the part and in the passage with its headings. */
  partOverlap: number
  passageOverlap: number
  /** The question's words in the part. */
  covered: ReadonlySet<string>
  /** Position in the search results, from 0. */
  rank: number
  /** Code, or a sentence that only announces it if the question cannot be answered by code. */
  isCode: boolean
  /** For records, rows and settings: whether this one has the numbers and names of the question, if any of them does. */
  isRecordMatch: boolean | undefined
  /** No record or row that was read has a number of the question. */
  lacksNumber: boolean
  isUseless: boolean
  /** The question asks for what is not the case, and another part of the passage has a negation, but this one does not. */
  lacksNegation: boolean
  /** Another part mentions what a follow-up question adds, such as "And part-timers?", but this one does not. */
  lacksAddition: boolean
}

export interface Candidate {
  answer: QuotableAnswer
  features: Features
}

/** Of the item that a paragraph belongs to. */
const MAX_ITEM_LEAD_LENGTH = 300
/** Score of a passage that the model cannot read: only shared words and the rank of the search count. */
const UNREADABLE_WEIGHT = 3.5
/** Relevance of a passage that the model cannot read: shared words make an answer probable at most. */
const UNREADABLE_RELEVANCE = { weight: 1.3, withoutWords: -4 }

/** Returns the candidates of each passage: one for each of its parts. A long passage can take tens of milliseconds. */
export async function listCandidates(question: string, passages: readonly ReadPassage[], addition: string): Promise<Candidate[][]> {
  const parsed: ParsedPassage[] = []
  const keepsMailHeaders = asksAboutMail(question)
  for (const passage of passages) {
    parsed.push(parsePassage(passage, keepsMailHeaders))
    await yieldToEventLoop()
  }
  const sets = parsed.flatMap(({ parts }) => parts.map(({ words }) => words))
  const asked: Asked = {
    words: weightWords(question, sets),
    isYesOrNo: asksYesOrNo(question),
    isNegated: asksForNegation(question),
    mayBeCode: mayAskForCode(question),
  }
  const records = matchRecords(
    question,
    parsed.map((input) => ({ ...input, parts: input.parts.filter(({ isSkipped }) => !isSkipped) })),
  )
  const additions = findAdditions(addition, parsed)
  const candidates: Candidate[][] = []
  for (const [rank, input] of parsed.entries()) {
    const negations = asked.isNegated ? findNegations(input) : new Set<Block>()
    candidates.push(listPassageCandidates(asked, input, rank, records, negations, additions))
    await yieldToEventLoop()
  }
  return candidates
}

interface ParsedPassage {
  passage: ReadPassage
  blocks: readonly Block[]
  parts: readonly QuotablePart[]
  headings: string
  content: string
}

function parsePassage(passage: ReadPassage, keepsMailHeaders: boolean): ParsedPassage {
  const { content, source, text, contentStart } = passage
  const blocks = parseBlocks(content, source)
  const leads = listLeads(content, blocks)
  const parts = parseParts(content, blocks).map((part) => ({
    ...part,
    words: new Set(extractContentWords(`${leads.get(part.block) ?? ''} ${content.slice(part.start, part.end)}`)),
    isSkipped: (!keepsMailHeaders && isMailHeader(content, part)) || isSalutation(content, part),
  }))
  return { passage, blocks, parts, headings: text.slice(0, contentStart), content }
}

/**
 * Returns the words above each block of a list: the sentence that announces the list, as "After every outing:" says when the boat
 * is washed, and the item that a paragraph belongs to, as "Default: 5" below "`retries`: How often to try".
 */
function listLeads(content: string, blocks: readonly Block[]): ReadonlyMap<Block, string> {
  const leads = new Map<Block, string>()
  for (const { first, last } of findLists(content, blocks)) {
    const sentence = readLastSentence(content, blocks[first - 1]) ?? ''
    const lead = announces(sentence) ? sentence : ''
    let item = ''
    for (const block of blocks.slice(first, last + 1)) {
      if (block.kind === 'item') item = content.slice(block.start, Math.min(block.end, block.start + MAX_ITEM_LEAD_LENGTH))
      leads.set(block, block.kind === 'text' ? `${lead} ${item}` : lead)
    }
  }
  return leads
}

/** Returns the blocks with a negation, and the items that a sentence with one announces. */
function findNegations({ blocks, content }: ParsedPassage): ReadonlySet<Block> {
  const announced = findLists(content, blocks).flatMap(({ first, last }) => {
    const lead = readLastSentence(content, blocks[first - 1]) ?? ''
    return announces(lead) && containsNegation(lead) ? blocks.slice(first, last + 1) : []
  })
  return new Set([...blocks.filter(({ start, end }) => containsNegation(content.slice(start, end))), ...announced])
}

/** Returns the parts that mention what a follow-up question adds, also in the headings above them. */
function findAdditions(text: string, passages: readonly ParsedPassage[]): ReadonlySet<Part> {
  const words = extractContentWords(text)
  if (words.length === 0) return new Set()
  const found = new Set<Part>()
  for (const { parts, headings } of passages) {
    const above = extractContentWords(headings)
    let heading: readonly string[] = []
    for (const part of parts) {
      if (part.block.kind === 'heading') heading = [...part.words]
      const said = new Set([...above, ...heading, ...part.words])
      if (words.every((word) => said.has(word))) found.add(part)
    }
  }
  return found
}

/** Goes from the last part to the first, so that many headings above the same part do not multiply the work. */
function listPassageCandidates(
  question: Asked,
  { passage, blocks, parts }: ParsedPassage,
  rank: number,
  records: ReadonlyMap<Part, RecordMatch>,
  negations: ReadonlySet<Block>,
  additions: ReadonlySet<Part>,
): Candidate[] {
  const { content, text, contentStart, reading } = passage
  const passageOverlap = computeOverlap(question.words, passage.words)
  const fileName = passage.source.replace(/^.*\//, '')
  // The name of the file is context, not an answer.
  const fileNameEnd = contentStart > 0 && text.startsWith(fileName) ? fileName.length : 0
  const found: Candidate[] = []
  // What is quoted: the part itself or, for a heading, the first part below it.
  let target: QuotablePart | undefined
  let words = new Set<string>()
  let isUseless: boolean | undefined
  let evidence: Part | undefined
  let to = reading.begins.length
  for (const [position, part] of [...parts.entries()].reverse()) {
    if (part.block.kind !== 'heading' && !part.isSkipped) {
      ;[target, words, isUseless] = [part, new Set(), undefined]
      evidence = isBelowHeading(parts, position) ? findEvidence(question, content, parts, position) : undefined
    }
    for (const word of part.isSkipped ? [] : part.words) words.add(word)
    if (part.isSkipped) {
      to = findWord(reading, to, part.start + contentStart)
      if (position > 0) continue
    }
    // Words of the headings above count for the first part.
    const from = findWord(reading, to, position === 0 ? fileNameEnd : part.start + contentStart)
    const best = findSpan(reading, from, to)
    to = from
    if (!best || !target) continue
    isUseless ??= isIncomplete(content, target) || saysNothing(question, content, blocks, target)
    const record = records.get(target)
    const partOverlap = computeOverlap(question.words, words)
    const features: Features = {
      reading: passage.isReadable ? best.score - reading.noAnswer : UNREADABLE_WEIGHT * partOverlap,
      relevance: passage.isReadable ? reading.relevance : estimateRelevance(partOverlap),
      partOverlap,
      passageOverlap,
      covered: findCovered(question.words, words),
      rank,
      isCode: isCode(target) || (!question.mayBeCode && announcesOnlyCode(content, blocks, target, best.isClear)),
      isRecordMatch: record?.isNamed,
      lacksNumber: record?.lacksNumber ?? false,
      isUseless,
      lacksNegation: negations.size > 0 && !negations.has(target.block),
      lacksAddition: additions.size > 0 && !additions.has(target),
    }
    const [start, end] = [best.span.start - contentStart, best.span.end - contentStart]
    const isHeading = start < 0
    let lastBlock = target.blockIndex
    while (!record?.isNamed && (blocks[lastBlock + 1]?.start ?? Number.POSITIVE_INFINITY) < end) lastBlock++
    const span = isHeading ? { start: 0, end: 0 } : { start, end }
    const heading = isHeading ? text.slice(best.span.start, Math.min(best.span.end, contentStart - 1)) : undefined
    const quoted =
      evidence && (isHeading || part.block.kind === 'heading')
        ? { part: evidence, lastBlock: evidence.blockIndex }
        : { part: target, lastBlock }
    found.push({ answer: { passage: rank, span, heading, isClear: best.isClear, ...quoted, blocks }, features })
  }
  raiseMatchingRecords(found.map(({ features }) => features))
  return found.reverse()
}

const isCode = ({ block: { kind } }: Part): boolean => kind === 'code' || kind === 'statement'

/** The model often points at the right column of the wrong record: the record with the name or number of the question gets its score. */
function raiseMatchingRecords(records: Features[]): void {
  const highest = records.reduce(
    (max, { reading, isRecordMatch }) => (isRecordMatch === undefined ? max : Math.max(max, reading)),
    -Infinity,
  )
  for (const record of records) if (record.isRecordMatch) record.reading = highest
}

const estimateRelevance = (partOverlap: number): number =>
  partOverlap === 0 ? UNREADABLE_RELEVANCE.withoutWords : UNREADABLE_RELEVANCE.weight * partOverlap
