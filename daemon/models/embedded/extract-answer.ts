/** The embedded answerer: it writes nothing of its own, it quotes the sentences that answer the question and says where they stand. */
import { setImmediate } from 'node:timers/promises'
import type { Embedder } from '../../embedding/embedder.ts'
import { estimateLanguageSupport } from '../../embedding/estimate-language-support.ts'
import { analyzeQuestion, extractContentWords, type QuestionAnalysis } from './analyze-question.ts'
import { type CandidateSentence, computeOverlap, computeWordWeights, isRelevant, type ScoredSentence, scoreForm } from './score-sentence.ts'
import { type FollowingBlock, type QuotableSentence, splitSentences } from './split-sentences.ts'

export interface QuotablePassage {
  content: string
  /** The headings it stands under, outermost first, where they are known. */
  headings?: readonly string[]
}

export const NOT_FOUND = 'This is not in your documents.'

/** What a word that is shared counts beside likeness. */
const WORDS = 0.2
/** What an amount is of stands beside it: words of the sentence itself count that much more than those of its heading. */
const BESIDE_AMOUNTS = 0.2
/** A row of a table is quoted only where no sentence is as good, and so is half a sentence. */
const TABLE_ROW = 0.05
const BROKEN = 0.05
/** What a passage loses to the one that was found before it. */
const A_RANK = 0.01
/** A further sentence is quoted when it is nearly as good as the best. */
const NEARLY = 0.08
/** Of amounts more are quoted: whoever reads one alone takes it for the answer. */
const NEARLY_AN_AMOUNT = 0.15
const MOST_QUOTES = 3
/** Those that are compared by their meaning, which takes a few milliseconds each. */
const MOST_SENTENCES = 60
/** Those whose words are told apart in one turn of the event loop. */
const A_TURN = 50
/** Of code, what says which command it is. */
const LONGEST_COMMANDS = 200

export async function extractAnswer(
  embedder: Embedder,
  text: string,
  passages: readonly QuotablePassage[],
  signal?: AbortSignal,
): Promise<string> {
  const question = analyzeQuestion(text)
  const sentences = (await candidates(passages)).filter(({ isCommand: command }) => !command || question.kind === 'way')
  const weights = computeWordWeights(question, sentences)
  const likely = foremost(sentences, weights)
  const likenesses = estimateLanguageSupport(embedder, text) >= 0.5 ? await compared(embedder, text, likely, signal) : undefined
  const around = passages.map((_, at) =>
    computeOverlap(
      weights,
      sentences.filter(({ passage }) => passage === at),
    ),
  )
  const weighed = likely.map((candidate, at): ScoredSentence => {
    const likeness = likenesses?.[at]
    const shared = computeOverlap(weights, [candidate])
    const less = A_RANK * candidate.passage + (candidate.isRow ? TABLE_ROW : 0) + (candidate.isTruncated ? BROKEN : 0)
    const beside = question.kind === 'amount' ? BESIDE_AMOUNTS * computeOverlap(weights, [candidate], 'ownWords') : 0
    const score = (likeness ?? 0) + WORDS * shared + beside + scoreForm(question, candidate) - less
    return { ...candidate, similarity: likeness, wordOverlap: shared, passageOverlap: around[candidate.passage] as number, score }
  })
  const chosen = choose(weighed.filter(isRelevant), question.kind === 'amount' ? NEARLY_AN_AMOUNT : NEARLY)
  return chosen.length === 0 ? NOT_FOUND : quoted(chosen, question)
}

async function candidates(passages: readonly QuotablePassage[]): Promise<CandidateSentence[]> {
  const found: CandidateSentence[] = []
  for (const [passage, { content, headings = [] }] of passages.entries()) {
    for (const [position, sentence] of splitSentences(content, headings.at(-1)).entries()) {
      // Passages may be long and many; others are served in between.
      if (position % A_TURN === 0) await setImmediate()
      const own = new Set(extractContentWords(meantBy(sentence)))
      found.push({ ...sentence, passage, position, ownWords: own, words: new Set([...extractContentWords(sentence.heading), ...own]) })
    }
  }
  return found
}

/** What an example says between quotation marks is not what its command does. */
const meantBy = ({ text, isCommand: command }: QuotableSentence) => (command ? text.replaceAll(/'[^']*'|"[^"]*"/g, '') : text)

/** Those whose words promise most, where they are too many to compare all. */
function foremost(sentences: CandidateSentence[], weights: ReadonlyMap<string, number>): CandidateSentence[] {
  if (sentences.length <= MOST_SENTENCES) return sentences
  const promise = new Map(sentences.map((sentence) => [sentence, computeOverlap(weights, [sentence]) - A_RANK * sentence.passage]))
  return [...sentences].sort((a, b) => (promise.get(b) as number) - (promise.get(a) as number)).slice(0, MOST_SENTENCES)
}

/** How alike the question and each sentence are, under its heading and with the commands it comes with. */
async function compared(
  embedder: Embedder,
  question: string,
  sentences: readonly CandidateSentence[],
  signal?: AbortSignal,
): Promise<number[]> {
  if (sentences.length === 0) return []
  const texts = sentences.map((sentence) => {
    const { heading, below } = sentence
    const commands = below?.isShell && below.isOwned ? ` ${below.text.slice(0, LONGEST_COMMANDS)}` : ''
    return `${heading === '' ? '' : `${heading}: `}${meantBy(sentence)}${commands}`
  })
  const [meant, ...vectors] = await embedder.embed([question, ...texts], { priority: 'query', ...(signal ? { signal } : {}) })
  return vectors.map((vector) => dot(meant as Float32Array, vector))
}

/** The best sentence and those close to it, each said once, in the order they were found in. */
function choose(fitting: readonly ScoredSentence[], nearly: number): ScoredSentence[] {
  const sorted = [...fitting].sort((a, b) => b.score - a.score)
  const best = sorted[0]
  if (!best) return []
  const chosen: ScoredSentence[] = []
  for (const sentence of sorted) {
    if (chosen.length === MOST_QUOTES || sentence.score < best.score - nearly) break
    if (!chosen.some((other) => repeats(sentence, other))) chosen.push(sentence)
  }
  return chosen.sort((a, b) => a.passage - b.passage || a.position - b.position)
}

const repeats = ({ words }: ScoredSentence, other: ScoredSentence) =>
  words.size > 0 && [...words].filter((word) => other.words.has(word)).length > 0.8 * words.size

/** Each with its number; what it announces below it, and commands where a way to do something is asked for. */
function quoted(chosen: readonly ScoredSentence[], question: QuestionAnalysis): string {
  const lines = chosen.flatMap(({ text, passage, below }, at) => {
    const given = below && (below.isAnnounced || isWay(question, below)) ? itsOwn(below.raw) : undefined
    const later = chosen
      .slice(at + 1)
      .some((other) => other.passage === passage && other.below !== undefined && itsOwn(other.below.raw) === given)
    return [`“${itsOwn(text)}” [${passage + 1}]`, ...(given === undefined || later ? [] : [given])]
  })
  return lines.join('\n')
}

/** A number in brackets is a document's own, of a footnote or an index: what nobody sees keeps it from being a reference here. Code stays as it is. */
const itsOwn = (text: string) => (text.startsWith('```') ? text : text.replaceAll(/\[(?=\d[\d\s,;–-]*\])/g, '[\u2060'))

/** Commands that another sentence announces have to be about what is asked. */
function isWay({ kind, words }: QuestionAnalysis, { isShell: shell, isOwned: owned, text }: FollowingBlock): boolean {
  if (kind !== 'way' || !shell) return false
  const named = new Set(extractContentWords(text))
  return owned || words.some((word) => named.has(word))
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number)
  return sum
}
