/** Chooses the answer to a question from what the reading model says about each passage. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Reading } from '../../inference/model-task.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { stripMarkdown } from '../../language/parse-markdown.ts'
import { matchRecords, type RecordMatch } from './match-records.ts'
import { type Block, type Part, parseBlocks, parseParts, type Span } from './parse-passage.ts'
import { asksForList } from './question/detect-task.ts'
import { computeOverlap, type QuestionWords, weightWords } from './question/question-words.ts'

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

export interface Answer extends QuotableAnswer {
  /** Compares answers of different passages. */
  score: number
  /** Certainty that this is an answer. */
  confidence: number
  /** Share of the question's words in the passage. */
  overlap: number
  /** A record or row that has the names and numbers of the question. */
  isNamedRecord: boolean
  /** The part cannot be quoted alone, or only repeats words of the question, as a table of contents does. */
  isUseless: boolean
}

/** What speaks for an answer. */
interface Features {
  /** Score of the reading model for the part, over "no answer". */
  reading: number
  /** Score of the reading model for the passage being about the question. */
  relevance: number
  /** Shares of the question's words in the part and in the passage with its headings. */
  partOverlap: number
  passageOverlap: number
  /** Position in the search results, from 0. */
  rank: number
  isCode: boolean
  /** For records and rows: whether this one has the numbers and names of the question, if any of them does. */
  isRecordMatch: boolean | undefined
  /** No record or row that was read has a number of the question. */
  lacksNumber: boolean
  isUseless: boolean
}

/** Longer answers are lists or blocks of code, whose beginning is enough. */
const MAX_ANSWER_WORDS = 60
/** Logarithm of the share of the best span in the scores of all spans of a part. Above it, nine of ten spans are right. */
const CLEAR_SHARE = -2
/** Weights were chosen on questions about an encyclopedia and on the working half of bench/answers (docs/reader.md). */
const WEIGHTS = { partOverlap: 2, rank: -0.7 }
const USELESS_PENALTY = 5
const OTHER_RECORD_PENALTY = 20
const LACKING_NUMBER_PENALTY = 8
const CODE_PENALTY = 1
/** The model points at code too easily: most questions without an answer end there. */
const CODE_CONFIDENCE_PENALTY = 4
/** Score of a passage that the model cannot read: only shared words and the rank of the search count. */
const UNREADABLE_WEIGHT = 3.5
/** Relevance of a passage that the model cannot read: shared words make an answer probable at most. */
const UNREADABLE_RELEVANCE = { weight: 1.3, withoutWords: -4 }
/**
 * An answer of a relevant passage that shares words with the question, or is much better than those of all other passages, is
 * more certain. The part's own score says less: the model finds a part in most passages that are about the question.
 */
const CONFIDENCE_WEIGHTS = { relevance: 1.5, partOverlap: 1.5, lead: 0.8 }
const MAX_LEAD = 5
/** Lead of an answer that is not compared with others. */
const NEUTRAL_LEAD = 2
/** Between sentences whose scores are this close, the model is undecided. */
const UNDECIDED_GAP = 2

/** Returns the best answer of each passage, best first. */
export async function rankAnswers(question: string, passages: readonly ReadPassage[]): Promise<Answer[]> {
  const answers = await listAnswers(question, passages)
  const [best, ...others] = answers.flatMap((list) => selectBestOfPassage(list) ?? []).sort((a, b) => b.score - a.score)
  if (!best) return []
  const lead = computeLead(best, others, passages)
  return [best, ...others].map((answer) => ({
    ...answer,
    confidence: answer.confidence + CONFIDENCE_WEIGHTS.lead * (answer === best ? lead : NEUTRAL_LEAD),
  }))
}

/** Returns by how much the best answer is better than the next one that says something else. */
function computeLead(best: Answer, others: readonly Answer[], passages: readonly ReadPassage[]): number {
  const getText = ({ passage, span, heading }: Answer) =>
    (heading ?? (passages[passage] as ReadPassage).content.slice(span.start, span.end)).toLowerCase()
  const text = getText(best)
  const rival = others.find((other) => !getText(other).includes(text) && !text.includes(getText(other)))
  return rival ? Math.min(MAX_LEAD, best.score - rival.score) : NEUTRAL_LEAD
}

/** Returns the best answer of a passage. If the model is undecided between two neighbouring sentences, both are quoted. */
function selectBestOfPassage(answers: readonly Answer[]): Answer | undefined {
  const [best, second] = [...answers].sort((a, b) => b.score - a.score)
  if (!best || !second || second.isUseless || best.score - second.score > UNDECIDED_GAP) return best
  const areNeighbours = Math.abs(answers.indexOf(best) - answers.indexOf(second)) === 1 && best.part.block === second.part.block
  const [start, end] = [Math.min(best.part.start, second.part.start), Math.max(best.part.end, second.part.end)]
  return areNeighbours ? { ...best, part: { ...best.part, start, end } } : best
}

/** Returns the answers of each passage: one for each of its parts. A long passage can take tens of milliseconds. */
async function listAnswers(question: string, passages: readonly ReadPassage[]): Promise<Answer[][]> {
  const parsed: ParsedPassage[] = []
  for (const passage of passages) {
    parsed.push(parsePassage(passage))
    await yieldToEventLoop()
  }
  const sets = parsed.flatMap(({ parts }) => parts.map(({ words }) => words))
  const words = weightWords(question, sets)
  const records = matchRecords(question, parsed)
  const answers: Answer[][] = []
  for (const [rank, input] of parsed.entries()) {
    answers.push(listPassageAnswers({ words, isPlural: asksForList(question) }, input, rank, records))
    await yieldToEventLoop()
  }
  return answers
}

interface ParsedPassage {
  passage: ReadPassage
  blocks: readonly Block[]
  parts: readonly (Part & { words: ReadonlySet<string> })[]
  headings: string
  content: string
}

function parsePassage(passage: ReadPassage): ParsedPassage {
  const { content, source, text, contentStart } = passage
  const blocks = parseBlocks(content, source)
  const parts = parseParts(content, blocks).map((part) => ({
    ...part,
    words: new Set(extractContentWords(content.slice(part.start, part.end))),
  }))
  return { passage, blocks, parts, headings: text.slice(0, contentStart), content }
}

/** Goes from the last part to the first, so that many headings above the same part do not multiply the work. */
function listPassageAnswers(
  { words: questionWords, isPlural }: { words: QuestionWords; isPlural: boolean },
  { passage, blocks, parts }: ParsedPassage,
  rank: number,
  records: ReadonlyMap<Part, RecordMatch>,
): Answer[] {
  const { content, text, contentStart, reading } = passage
  const passageOverlap = computeOverlap(questionWords, passage.words)
  const fileName = passage.source.replace(/^.*\//, '')
  // The name of the file is context, not an answer.
  const fileNameEnd = contentStart > 0 && text.startsWith(fileName) ? fileName.length : 0
  const found: { answer: QuotableAnswer; features: Features }[] = []
  // What is quoted: the part itself or, for a heading, the first part below it.
  let target: Part | undefined
  let words = new Set<string>()
  let isUseless: boolean | undefined
  let to = reading.begins.length
  for (const [position, part] of [...parts.entries()].reverse()) {
    if (part.block.kind !== 'heading') [target, words, isUseless] = [part, new Set(), undefined]
    for (const word of part.words) words.add(word)
    // Words of the headings above count for the first part.
    const textStart = position === 0 ? fileNameEnd : part.start + contentStart
    let from = to
    while (from > 0 && (reading.words[2 * (from - 1)] as number) >= textStart) from--
    const best = readWords(reading, from, to)
    to = from
    if (!best || !target) continue
    // The list that a question in the plural asks for may be in the next passage.
    isUseless ??=
      (!isPlural && announcesNothing(content, target, blocks)) ||
      isIncomplete(content, target) ||
      repeatsQuestion(questionWords, content.slice(target.start, target.end))
    const record = records.get(target)
    const partOverlap = computeOverlap(questionWords, words)
    const features: Features = {
      reading: passage.isReadable ? best.score - reading.noAnswer : UNREADABLE_WEIGHT * partOverlap,
      relevance: passage.isReadable ? reading.relevance : estimateRelevance(partOverlap),
      partOverlap,
      passageOverlap,
      rank,
      isCode: target.block.kind === 'code' || target.block.kind === 'statement',
      isRecordMatch: record?.isNamed,
      lacksNumber: record?.lacksNumber ?? false,
      isUseless,
    }
    const [start, end] = [best.span.start - contentStart, best.span.end - contentStart]
    const isHeading = start < 0
    let lastBlock = target.blockIndex
    while (!record?.isNamed && (blocks[lastBlock + 1]?.start ?? Number.POSITIVE_INFINITY) < end) lastBlock++
    const span = isHeading ? { start: 0, end: 0 } : { start, end }
    const heading = isHeading ? text.slice(best.span.start, Math.min(best.span.end, contentStart - 1)) : undefined
    found.push({ answer: { passage: rank, span, heading, isClear: best.isClear, part: target, lastBlock, blocks }, features })
  }
  raiseMatchingRecords(found.map(({ features }) => features))
  return found
    .map(({ answer, features }) => ({
      ...answer,
      score: computeScore(features),
      confidence: computeConfidence(features),
      overlap: features.passageOverlap,
      isNamedRecord: features.isRecordMatch === true,
      isUseless: features.isUseless,
    }))
    .reverse()
}

/** The model often points at the right column of the wrong record: the record with the name or number of the question gets its score. */
function raiseMatchingRecords(records: Features[]): void {
  const highest = records.reduce(
    (max, { reading, isRecordMatch }) => (isRecordMatch === undefined ? max : Math.max(max, reading)),
    -Infinity,
  )
  for (const record of records) if (record.isRecordMatch) record.reading = highest
}

function computeScore({ reading, partOverlap, rank, isCode, isRecordMatch, isUseless }: Features): number {
  const penalty = (isCode ? CODE_PENALTY : 0) + (isUseless ? USELESS_PENALTY : 0) + (isRecordMatch === false ? OTHER_RECORD_PENALTY : 0)
  return reading + WEIGHTS.partOverlap * partOverlap + WEIGHTS.rank * rank - penalty
}

function computeConfidence({ relevance, partOverlap, isCode, lacksNumber }: Features): number {
  const penalty = (isCode ? CODE_CONFIDENCE_PENALTY : 0) + (lacksNumber ? LACKING_NUMBER_PENALTY : 0)
  return CONFIDENCE_WEIGHTS.relevance * relevance + CONFIDENCE_WEIGHTS.partOverlap * partOverlap - penalty
}

const estimateRelevance = (partOverlap: number): number =>
  partOverlap === 0 ? UNREADABLE_RELEVANCE.withoutWords : UNREADABLE_RELEVANCE.weight * partOverlap

/**
 * Returns the best span that begins with one of the words, and a score for any span there: several spans of a sentence are
 * often as good, and their sum says more about the sentence than the best of them.
 */
function readWords({ words, begins, ends }: Reading, from: number, to: number) {
  if (from === to) return undefined
  let best = { first: 0, last: 0, score: Number.NEGATIVE_INFINITY }
  for (let first = from; first < to; first++)
    for (let last = first; last < Math.min(begins.length, first + MAX_ANSWER_WORDS); last++) {
      const score = (begins[first] as number) + (ends[last] as number)
      if (score > best.score) best = { first, last, score }
    }
  const span: Span = { start: words[2 * best.first] as number, end: words[2 * best.last + 1] as number }
  const score = sumExponentials(begins.subarray(from, to)) + sumExponentials(ends.subarray(from, to))
  return { span, score: Math.max(score, best.score), isClear: best.last < to && best.score - score >= CLEAR_SHARE }
}

/** Returns the logarithm of the sum of exponentials. */
function sumExponentials(logits: Float32Array): number {
  const max = Math.max(...logits)
  return max + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - max), 0))
}

export function repeatsQuestion(questionWords: Pick<ReadonlySet<string>, 'has'>, text: string): boolean {
  return extractContentWords(stripMarkdown(text)).every((word) => questionWords.has(word))
}

/** Whether a part announces a block that the passage does not contain. */
function announcesNothing(content: string, { start, end, block, blockIndex }: Part, blocks: readonly Block[]): boolean {
  const isText = block.kind === 'text' || block.kind === 'item'
  return isText && /[:：]$/.test(content.slice(start, end).trimEnd()) && blocks[blockIndex + 1] === undefined
}

/** Whether a part cannot be quoted alone: the passage starts or ends inside of it, or it is a question. */
function isIncomplete(content: string, { start, end, block }: Part): boolean {
  const text = content.slice(start, end)
  // The end of a statement can be in the next passage.
  if (block.kind === 'statement') return countMatches(text, /[([{]/g) > countMatches(text, /[)\]}]/g)
  if (block.kind !== 'text' && block.kind !== 'item') return false
  if (start === 0 && /^\p{Ll}/u.test(content)) return true
  return /[?？]["'”’)\]]?$/.test(text)
}

const countMatches = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
