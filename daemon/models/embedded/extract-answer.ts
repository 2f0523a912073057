/** Answers a question by quoting the sentences of passages that answer it. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Embedder } from '../../embedding/embedder.ts'
import { estimateLanguageSupport } from '../../embedding/estimate-language-support.ts'
import { analyzeQuestion, extractContentWords, type QuestionAnalysis } from './analyze-question.ts'
import { type CandidateSentence, computeOverlap, computeWordWeights, isRelevant, type ScoredSentence, scoreForm } from './score-sentence.ts'
import { type FollowingBlock, type QuotableSentence, splitSentences } from './split-sentences.ts'

export interface QuotablePassage {
  content: string
  /** Headings above the passage, outermost first, if known. */
  headings?: readonly string[]
}

export const NOT_FOUND = 'This is not in your documents.'

/** Weight of the word overlap, relative to the similarity. */
const OVERLAP_WEIGHT = 0.2
/** For amounts, words of the sentence itself count more than those of its heading. */
const AMOUNT_WEIGHT = 0.2
/** Rows of tables and truncated sentences are quoted only if no sentence is as good. */
const TABLE_ROW_PENALTY = 0.05
const TRUNCATED_PENALTY = 0.05
/** For each passage that was ranked higher. */
const RANK_PENALTY = 0.01
/** Further sentences are quoted if their score is this close to the best one. */
const MAX_SCORE_GAP = 0.08
/** Larger for amounts, because a single one is easily mistaken for the answer. */
const MAX_AMOUNT_SCORE_GAP = 0.15
const MAX_QUOTES = 3
/** Each embedding takes a few milliseconds. */
const MAX_EMBEDDED_SENTENCES = 60
const SENTENCES_PER_TICK = 50
const MAX_COMMAND_LENGTH = 200

export async function extractAnswer(
  embedder: Embedder,
  text: string,
  passages: readonly QuotablePassage[],
  signal?: AbortSignal,
): Promise<string> {
  const question = analyzeQuestion(text)
  const sentences = (await listCandidates(passages)).filter(({ isCommand }) => !isCommand || question.kind === 'way')
  const weights = computeWordWeights(question, sentences)
  const candidates = selectCandidates(sentences, weights)
  const canCompare = estimateLanguageSupport(embedder, text) >= 0.5
  const similarities = canCompare ? await computeSimilarities(embedder, text, candidates, signal) : undefined
  const passageOverlaps = passages.map((_, index) =>
    computeOverlap(
      weights,
      sentences.filter(({ passage }) => passage === index),
    ),
  )
  const scored = candidates.map((candidate, index): ScoredSentence => {
    const { passage, isRow, isTruncated } = candidate
    const similarity = similarities?.[index]
    const wordOverlap = computeOverlap(weights, [candidate])
    const penalty = RANK_PENALTY * passage + (isRow ? TABLE_ROW_PENALTY : 0) + (isTruncated ? TRUNCATED_PENALTY : 0)
    const amountScore = question.kind === 'amount' ? AMOUNT_WEIGHT * computeOverlap(weights, [candidate], 'ownWords') : 0
    const score = (similarity ?? 0) + OVERLAP_WEIGHT * wordOverlap + amountScore + scoreForm(question, candidate) - penalty
    return { ...candidate, similarity, wordOverlap, passageOverlap: passageOverlaps[passage] as number, score }
  })
  const quotes = selectQuotes(scored.filter(isRelevant), question.kind === 'amount' ? MAX_AMOUNT_SCORE_GAP : MAX_SCORE_GAP)
  return quotes.length === 0 ? NOT_FOUND : formatQuotes(quotes, question)
}

async function listCandidates(passages: readonly QuotablePassage[]): Promise<CandidateSentence[]> {
  const candidates: CandidateSentence[] = []
  for (const [passage, { content, headings = [] }] of passages.entries()) {
    for (const [position, sentence] of splitSentences(content, headings.at(-1)).entries()) {
      if (position % SENTENCES_PER_TICK === 0) await yieldToEventLoop()
      const ownWords = new Set(extractContentWords(removeQuotedArguments(sentence)))
      const words = new Set([...extractContentWords(sentence.heading), ...ownWords])
      candidates.push({ ...sentence, passage, position, ownWords, words })
    }
  }
  return candidates
}

/** Quoted arguments of a command do not describe what it does. */
const removeQuotedArguments = ({ text, isCommand }: QuotableSentence) => (isCommand ? text.replaceAll(/'[^']*'|"[^"]*"/g, '') : text)

/** Returns the sentences with the highest word overlap if there are too many to embed. */
function selectCandidates(sentences: CandidateSentence[], weights: ReadonlyMap<string, number>): CandidateSentence[] {
  if (sentences.length <= MAX_EMBEDDED_SENTENCES) return sentences
  const scores = new Map(sentences.map((sentence) => [sentence, computeOverlap(weights, [sentence]) - RANK_PENALTY * sentence.passage]))
  return [...sentences].sort((a, b) => (scores.get(b) as number) - (scores.get(a) as number)).slice(0, MAX_EMBEDDED_SENTENCES)
}

/** Sentences are embedded with their heading and the commands below them. */
async function computeSimilarities(
  embedder: Embedder,
  question: string,
  sentences: readonly CandidateSentence[],
  signal?: AbortSignal,
): Promise<number[]> {
  if (sentences.length === 0) return []
  const texts = sentences.map((sentence) => {
    const { heading, below } = sentence
    const commands = below?.isShell && below.isOwned ? ` ${below.text.slice(0, MAX_COMMAND_LENGTH)}` : ''
    return `${heading === '' ? '' : `${heading}: `}${removeQuotedArguments(sentence)}${commands}`
  })
  const [questionVector, ...vectors] = await embedder.embed([question, ...texts], { priority: 'query', ...(signal ? { signal } : {}) })
  return vectors.map((vector) => computeDotProduct(questionVector as Float32Array, vector))
}

/** Returns the best sentences without repetitions, in the order of the passages. */
function selectQuotes(sentences: readonly ScoredSentence[], maxScoreGap: number): ScoredSentence[] {
  const sorted = [...sentences].sort((a, b) => b.score - a.score)
  const best = sorted[0]
  if (!best) return []
  const quotes: ScoredSentence[] = []
  for (const sentence of sorted) {
    if (quotes.length === MAX_QUOTES || sentence.score < best.score - maxScoreGap) break
    if (!quotes.some((other) => isRepetition(sentence, other))) quotes.push(sentence)
  }
  return quotes.sort((a, b) => a.passage - b.passage || a.position - b.position)
}

const isRepetition = ({ words }: ScoredSentence, other: ScoredSentence) =>
  words.size > 0 && [...words].filter((word) => other.words.has(word)).length > 0.8 * words.size

/** Adds the block that a sentence announces, and commands if the question asks how to do something. */
function formatQuotes(quotes: readonly ScoredSentence[], question: QuestionAnalysis): string {
  const lines = quotes.flatMap(({ text, passage, below }, index) => {
    const block = below && (below.isAnnounced || isInstruction(question, below)) ? escapeReferences(below.raw) : undefined
    const isRepeatedLater = quotes
      .slice(index + 1)
      .some((other) => other.passage === passage && other.below !== undefined && escapeReferences(other.below.raw) === block)
    return [`“${escapeReferences(text)}” [${passage + 1}]`, ...(block === undefined || isRepeatedLater ? [] : [block])]
  })
  return lines.join('\n')
}

/** Adds a zero-width character to the document's own numbers in brackets, so that they are not read as citations. */
const escapeReferences = (text: string) => (text.startsWith('```') ? text : text.replaceAll(/\[(?=\d[\d\s,;–-]*\])/g, '[\u2060'))

/** Commands that another sentence announces must contain a word of the question. */
function isInstruction({ kind, words }: QuestionAnalysis, { isShell, isOwned, text }: FollowingBlock): boolean {
  if (kind !== 'way' || !isShell) return false
  const commandWords = new Set(extractContentWords(text))
  return isOwned || words.some((word) => commandWords.has(word))
}

function computeDotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number)
  return sum
}
