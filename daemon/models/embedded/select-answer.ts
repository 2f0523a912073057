/** Chooses the answer to a question from what the reading model says about each passage. */
import type { Reading } from '../../embedded-models/worker-protocol.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { expandQuery } from '../../language/expand-query.ts'
import { type Block, type Part, parseBlocks, parseParts, type Span, stripMarkdown } from './parse-passage.ts'

export interface ReadPassage {
  content: string
  /** The text that was read: headings and content. */
  text: string
  contentStart: number
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
  /** The part that contains the beginning of the answer, or the first one below the heading that is the answer. */
  part: Part
  /** Index of the last block of the answer, which may be a list or several rows. */
  lastBlock: number
  blocks: readonly Block[]
}

export interface Answer extends QuotableAnswer {
  features: Features
  /** Compares answers of different passages. */
  score: number
  /** Certainty that this is an answer. */
  confidence: number
}

/** What speaks for an answer. */
export interface Features {
  /** Score of the reading model for the part, over "no answer". */
  reading: number
  /** Score of the reading model for the passage. */
  relevance: number
  /** Shares of the question's words in the part and in the passage with its headings. */
  partOverlap: number
  passageOverlap: number
  /** Position in the search results, from 0. */
  rank: number
  /** The part cannot be quoted alone, or only repeats words of the question, as a table of contents does. */
  isUseless: boolean
}

/** A synonym counts less than the word itself. */
const SYNONYM_SHARE = 0.6
/** Of a long question, the first words count. */
const MAX_QUESTION_WORDS = 100
/** Longer answers are lists or blocks of code, whose beginning is enough. */
const MAX_ANSWER_WORDS = 60
/** Weights were chosen on questions about an encyclopedia and on the working half of bench/answers (docs/reader.md). */
const WEIGHTS = { relevance: 1, partOverlap: 6, rank: -0.3 }
const USELESS_PENALTY = 5
const CONFIDENCE_WEIGHTS = { relevance: 0.5, partOverlap: 12, passageOverlap: 4 }

/** For a passage that contains no word of the question and no synonym of one. */
const UNRELATED_PENALTY = 6

/** Returns the best answer of each passage, best first. */
export function selectAnswers(question: string, passages: readonly ReadPassage[]): Answer[] {
  return listAnswers(question, passages)
    .flatMap((answers) => answers.sort((a, b) => b.score - a.score)[0] ?? [])
    .sort((a, b) => b.score - a.score)
}

/** Returns the answers of each passage: one for each of its parts. */
export function listAnswers(question: string, passages: readonly ReadPassage[]): Answer[][] {
  const parsed = passages.map((passage) => {
    const blocks = parseBlocks(passage.content)
    return { passage, blocks, parts: parseParts(passage.content, blocks) }
  })
  const texts = parsed.flatMap(({ passage, parts }) => parts.map(({ start, end }) => passage.content.slice(start, end)))
  const words = weightWords(question, texts)
  return parsed.map((input, rank) => listPassageAnswers(words, input, rank))
}

interface QuestionWord {
  weight: number
  /** Other words for it, which may consist of several words. */
  synonyms: readonly (readonly string[])[]
}

type QuestionWords = ReadonlyMap<string, QuestionWord>

/** Rare words of a question count more: a number or a name often decides between similar sentences. */
function weightWords(question: string, texts: readonly string[]): QuestionWords {
  const sets = texts.map((text) => new Set(extractContentWords(text)))
  const computeWeight = (word: string) => Math.log(1 + (sets.length + 1) / (sets.filter((set) => set.has(word)).length + 1))
  const words = question.split(/\s+/).flatMap((word) => {
    const synonyms = expandQuery(word).map(extractContentWords)
    return extractContentWords(word).map((stem) => [stem, { weight: computeWeight(stem), synonyms }] as const)
  })
  return new Map(words.slice(0, MAX_QUESTION_WORDS))
}

interface ParsedPassage {
  passage: ReadPassage
  blocks: readonly Block[]
  parts: readonly Part[]
}

function listPassageAnswers(questionWords: QuestionWords, { passage, blocks, parts }: ParsedPassage, rank: number): Answer[] {
  const { content, text, contentStart, reading } = passage
  const quotable = parts.filter(({ block }) => block.kind !== 'heading')
  const passageOverlap = computeOverlap(questionWords, text)
  return parts.flatMap((part, position) => {
    // Words of the headings above count for the first part.
    const from = position === 0 ? Number.NEGATIVE_INFINITY : part.start
    const to = parts[position + 1]?.start ?? Number.POSITIVE_INFINITY
    const found = readPart(reading, contentStart, from, to)
    const target = part.block.kind === 'heading' ? quotable.find(({ start }) => start >= part.end) : part
    if (!found || !target) return []
    const features: Features = {
      reading: found.score - reading.noAnswer,
      relevance: reading.relevance,
      partOverlap: computeOverlap(questionWords, content.slice(part.start, target.end)),
      passageOverlap,
      rank,
      isUseless: isIncomplete(content, target, blocks) || repeatsQuestion(questionWords, content.slice(target.start, target.end)),
    }
    const { start, end } = found.span
    const isHeading = start < 0
    return [
      {
        passage: rank,
        span: isHeading ? { start: 0, end: 0 } : found.span,
        heading: isHeading ? text.slice(start + contentStart, Math.min(end, -1) + contentStart) : undefined,
        part: target,
        lastBlock: Math.max(
          blocks.findLastIndex((block) => block.start < end),
          target.blockIndex,
        ),
        blocks,
        features,
        score: computeScore(features),
        confidence: computeConfidence(features),
      },
    ]
  })
}

function computeScore({ reading, relevance, partOverlap, rank, isUseless }: Features): number {
  const weighted = WEIGHTS.relevance * relevance + WEIGHTS.partOverlap * partOverlap + WEIGHTS.rank * rank
  return reading + weighted - (isUseless ? USELESS_PENALTY : 0)
}

function computeConfidence({ reading, relevance, partOverlap, passageOverlap }: Features): number {
  const weights = CONFIDENCE_WEIGHTS
  const overlap = weights.partOverlap * partOverlap + weights.passageOverlap * passageOverlap
  return reading + weights.relevance * relevance + overlap - (passageOverlap === 0 ? UNRELATED_PENALTY : 0)
}

/**
 * Returns the best span that begins between two positions, and a score for any span there: several spans of a sentence are
 * often as good, and their sum says more about the sentence than the best of them.
 */
function readPart({ words, begins, ends }: Reading, contentStart: number, from: number, to: number) {
  const inside: number[] = []
  for (let index = 0; index < begins.length; index++) {
    const start = (words[2 * index] as number) - contentStart
    if (start >= from && start < to) inside.push(index)
  }
  if (inside.length === 0) return undefined
  let best = { first: 0, last: 0, score: Number.NEGATIVE_INFINITY }
  for (const first of inside)
    for (let last = first; last < Math.min(begins.length, first + MAX_ANSWER_WORDS); last++) {
      const score = (begins[first] as number) + (ends[last] as number)
      if (score > best.score) best = { first, last, score }
    }
  const span = { start: (words[2 * best.first] as number) - contentStart, end: (words[2 * best.last + 1] as number) - contentStart }
  const score =
    sumExponentials(inside.map((index) => begins[index] as number)) + sumExponentials(inside.map((index) => ends[index] as number))
  return { span, score: Math.max(score, best.score) }
}

/** Returns the logarithm of the sum of exponentials. */
function sumExponentials(logits: readonly number[]): number {
  const max = Math.max(...logits)
  return max + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - max), 0))
}

/** Returns the weighted share of the question's words that the text contains. */
function computeOverlap(questionWords: QuestionWords, text: string): number {
  const words = new Set(extractContentWords(text))
  let [found, total] = [0, 0]
  for (const [word, { weight, synonyms }] of questionWords) {
    total += weight
    if (words.has(word)) found += weight
    else if (synonyms.some((synonym) => synonym.every((other) => words.has(other)))) found += SYNONYM_SHARE * weight
  }
  return total === 0 ? 0 : found / total
}

export function repeatsQuestion(questionWords: Pick<ReadonlySet<string>, 'has'>, text: string): boolean {
  return extractContentWords(stripMarkdown(text)).every((word) => questionWords.has(word))
}

/** Whether a part cannot be quoted alone: the passage starts inside of it, or it announces a block that is missing. */
function isIncomplete(content: string, { start, end, blockIndex, block }: Part, blocks: readonly Block[]): boolean {
  if (block.kind !== 'text' && block.kind !== 'item') return false
  if (start === 0 && /^\p{Ll}/u.test(content)) return true
  if (/[?？]["'”’)\]]?$/.test(content.slice(start, end))) return true
  return /[:：]$/.test(content.slice(start, end).trimEnd()) && blocks[blockIndex + 1] === undefined
}
