/** Chooses the answer to a question from what the reading model says about each passage. */
import type { Reading } from '../../embedded-models/worker-protocol.ts'
import { extractContentWords } from './content-words.ts'
import { type Block, type Part, parseBlocks, parseParts, type Span } from './parse-passage.ts'

export interface ReadPassage {
  content: string
  /** Position of the content in the text that was read, after its headings. */
  contentStart: number
  reading: Reading
}

export interface Answer {
  /** Index of the passage. */
  passage: number
  /** Characters of the answer in the content; negative if it is in the headings above. */
  span: Span
  /** The part that contains the beginning of the answer, or the first one below the heading that is the answer. */
  part: Part
  /** Index of the last block of the answer, which may be a list or several rows. */
  lastBlock: number
  blocks: readonly Block[]
  /** Compares answers of different passages. */
  score: number
  /** The reading model's certainty that this is an answer. */
  confidence: number
}

/** Longer answers are lists or blocks of code, whose beginning is enough. */
const MAX_ANSWER_WORDS = 60
/** Chosen on questions about an encyclopedia and on the working half of bench/answers (docs/reader.md). */
const RELEVANCE_WEIGHT = 2
const OVERLAP_WEIGHT = 4
/** For each passage that the search ranked higher. */
const RANK_PENALTY = 0.5
/** A passage that starts inside a sentence or with a lead-in to a block that it does not contain. */
const INCOMPLETE_PENALTY = 4

/** Returns the best answer of each passage, best first. */
export function selectAnswers(question: string, passages: readonly ReadPassage[]): Answer[] {
  const words = new Set(extractContentWords(question))
  return passages.flatMap((passage, index) => findAnswer(words, passage, index) ?? []).sort((a, b) => b.score - a.score)
}

function findAnswer(
  questionWords: ReadonlySet<string>,
  { content, contentStart, reading }: ReadPassage,
  passage: number,
): Answer | undefined {
  const blocks = parseBlocks(content)
  const parts = parseParts(content, blocks)
  const quotable = parts.filter(({ block }) => block.kind !== 'heading')
  let best: Answer | undefined
  for (const [position, part] of parts.entries()) {
    // Words of the headings above count for the first part.
    const from = position === 0 ? Number.NEGATIVE_INFINITY : part.start
    const to = parts[position + 1]?.start ?? Number.POSITIVE_INFINITY
    const found = readPart(reading, contentStart, from, to)
    const target = part.block.kind === 'heading' ? quotable.find(({ start }) => start >= part.end) : part
    if (!found || !target) continue
    const overlap = computeOverlap(questionWords, content.slice(part.start, target.end))
    const confidence = found.score - reading.noAnswer + RELEVANCE_WEIGHT * reading.relevance + OVERLAP_WEIGHT * overlap
    const score = confidence - RANK_PENALTY * passage - (isIncomplete(content, target, blocks) ? INCOMPLETE_PENALTY : 0)
    if (best && best.score >= score) continue
    const lastBlock = blocks.findLastIndex((block) => block.start < found.span.end)
    best = { passage, span: found.span, part: target, lastBlock: Math.max(lastBlock, target.blockIndex), blocks, score, confidence }
  }
  return best
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

/** Returns the share of the question's words that the text contains. */
function computeOverlap(questionWords: ReadonlySet<string>, text: string): number {
  if (questionWords.size === 0) return 0
  const words = new Set(extractContentWords(text))
  return [...questionWords].filter((word) => words.has(word)).length / questionWords.size
}

/** Whether a part cannot be quoted alone: the passage starts inside of it, or it announces a block that is missing. */
function isIncomplete(content: string, { start, end, blockIndex, block }: Part, blocks: readonly Block[]): boolean {
  if (block.kind !== 'text' && block.kind !== 'item') return false
  if (start === 0 && /^\p{Ll}/u.test(content)) return true
  if (/[?？]["'”’)\]]?$/.test(content.slice(start, end))) return true
  return /[:：]$/.test(content.slice(start, end).trimEnd()) && blocks[blockIndex + 1] === undefined
}
