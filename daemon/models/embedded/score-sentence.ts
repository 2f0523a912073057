/** Scores sentences as answers to a question by similarity, shared words and form. */
import { containsWord, extractContentWords, type QuestionAnalysis } from './analyze-question.ts'
import type { QuotableSentence } from './split-sentences.ts'

export interface CandidateSentence extends QuotableSentence {
  /** Index of the passage. */
  passage: number
  /** Index in the passage. */
  position: number
  /** Content words of the sentence and its heading. */
  words: ReadonlySet<string>
  ownWords: ReadonlySet<string>
}

export interface ScoredSentence extends CandidateSentence {
  /** Cosine similarity to the question; undefined if the embedding model does not support the language. */
  similarity: number | undefined
  /** Weighted share of the question's words in the sentence, 0 to 1. */
  wordOverlap: number
  /** Weighted share of the question's words in the passage, 0 to 1. */
  passageOverlap: number
  score: number
}

/**
 * Both thresholds separate documents that answer a question from those that do not. Measured with an encyclopedia,
 * abstracts, code and a manual, in English and Chinese.
 */
const MIN_EVIDENCE = 0.46
const OVERLAP_WEIGHT = 0.25
/** For languages that the embedding model does not support. */
const MIN_OVERLAP = 0.4

export function isRelevant({ similarity, wordOverlap, passageOverlap }: ScoredSentence): boolean {
  if (similarity === undefined) return (wordOverlap + passageOverlap) / 2 >= MIN_OVERLAP
  return similarity + OVERLAP_WEIGHT * wordOverlap >= MIN_EVIDENCE
}

/** Weights the words of the question: rare words count more. */
export function computeWordWeights({ words }: QuestionAnalysis, candidates: readonly CandidateSentence[]): Map<string, number> {
  const computeWeight = (word: string) => {
    const count = candidates.filter((candidate) => containsWord(candidate.text, candidate.words, word)).length
    return Math.log(1 + (candidates.length + 1) / (count + 1))
  }
  return new Map(words.map((word) => [word, computeWeight(word)]))
}

/** Returns the weighted share of the question's words that the sentences contain together, with or without their headings. */
export function computeOverlap(
  weights: ReadonlyMap<string, number>,
  candidates: readonly CandidateSentence[],
  field: 'words' | 'ownWords' = 'words',
): number {
  let [found, total] = [0, 0]
  for (const [word, weight] of weights) {
    total += weight
    if (candidates.some((candidate) => containsWord(candidate.text, candidate[field], word))) found += weight
  }
  return total === 0 ? 0 : found / total
}

/** Matches a digit or one of the words. */
const createPattern = (words: string) => new RegExp(String.raw`\d|\b(?:${words.replaceAll(/\s+/g, '|')})\b`, 'i')

const FIGURE = createPattern(
  `one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty hundred thousand
  million billion once twice never always half`,
)
const PERIODS = '(?:milli)?seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centur(?:y|ies)'
const SPAN = new RegExp(String.raw`\b(?:${PERIODS}|daily|hourly|weekly|monthly|yearly)\b|\d\s?(?:ms|s|min|h)\b`, 'i')
const MOMENT = createPattern(
  `january february march april may june july august september october november december
  monday tuesday wednesday thursday friday saturday sunday century today yesterday daily weekly after before until since`,
)
const NAME = /\p{L}[\p{L}.'’-]*,? \p{Lu}\p{Ll}/u
const IS = /^\W*(?:\([^)]{0,60}\)\s*)?(?:is|are|was|were|means?|refers?|stands? for|describes?|denotes?)\b/i

/** Returns a bonus or penalty for the form of the sentence, depending on the kind of question. */
export function scoreForm(
  { kind, subject }: QuestionAnalysis,
  { text, heading, isLead, namesCode, isCommand, below }: QuotableSentence,
): number {
  if (kind === 'amount') return FIGURE.test(text) ? 0.05 : -0.05
  if (kind === 'duration') return SPAN.test(text) ? 0.08 : FIGURE.test(text) ? 0 : -0.05
  if (kind === 'moment') return MOMENT.test(text) ? 0.05 : -0.05
  if (kind === 'person') return NAME.test(text) ? 0.04 : 0
  if (kind === 'way') return below?.isShell || isCommand ? 0.08 : namesCode ? 0.04 : 0
  if (kind !== 'definition') return 0
  const headingScore = isLead && areEqual(extractContentWords(heading), subject) ? 0.08 : 0
  return headingScore + scoreDefinition(text, subject)
}

/** Prefers "X is …" to "X does …". */
function scoreDefinition(text: string, subject: readonly string[]): number {
  const words = [...text.matchAll(/[\p{L}\p{N}_-]+/gu)].slice(0, subject.length + 3)
  for (const [position, { 0: word, index }] of words.entries()) {
    const startWords = extractContentWords(text.slice(0, index + word.length))
    if (startWords.length < subject.length) continue
    if (!areEqual(startWords, subject)) return 0
    return IS.test(text.slice(index + word.length)) ? 0.2 : position < words.length - 1 ? 0.1 : 0
  }
  return 0
}

const areEqual = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((word, index) => word === b[index])
