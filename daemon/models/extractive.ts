/** The embedded answerer: it writes nothing of its own, it quotes the sentences that answer the question and says where they stand. */
import type { Embedder } from '../embedding/embedder.ts'
import { fluency } from '../embedding/fluency.ts'
import { type Quotable, quotable } from './quotable.ts'

export interface QuotedPassage {
  content: string
}

export const NOT_FOUND = 'This is not in your documents.'

/** What a sentence needs to be quoted, set between what questions score against documents that answer them and against others that do not. */
const LEAST_SIMILARITY = 0.42
/** Or so many of the question's words, and at least some likeness. */
const LEAST_SHARED = 0.75
const SOME_SIMILARITY = 0.25
/** In languages that the model does not know, the words have to do. */
const LEAST_SHARED_UNKNOWN = 0.4
/** A row of a table is quoted only where no sentence is as good. */
const TABLE_ROW = 0.1
/** A further sentence is quoted when it is nearly as good as the best. */
const NEARLY = 0.08
const MOST_QUOTES = 3
const MOST_SENTENCES = 60

interface Sentence extends Quotable {
  passage: number
  position: number
}

interface Scored extends Sentence {
  similarity: number
  shared: number
  score: number
}

export async function quoteAnswer(embedder: Embedder, question: string, passages: readonly QuotedPassage[], signal?: AbortSignal): Promise<string> {
  const sentences = passages
    .flatMap(({ content }, passage) => quotable(content).map((sentence, position): Sentence => ({ ...sentence, passage, position })))
    .slice(0, MOST_SENTENCES)
  if (sentences.length === 0) return NOT_FOUND
  const [asked, ...vectors] = await embedder.embed([question, ...sentences.map(({ text }) => text)], { priority: 'query', ...(signal ? { signal } : {}) })
  const words = contentWords(question)
  const known = fluency(embedder, question) >= 0.5
  const scored = sentences.map((sentence, at): Scored => {
    const similarity = dot(asked as Float32Array, vectors[at] as Float32Array)
    const shared = share(words, contentWords(sentence.text))
    const less = 0.01 * sentence.passage + (sentence.row ? TABLE_ROW : 0)
    return { ...sentence, similarity, shared, score: (known ? similarity : 0) + 0.2 * shared - less }
  })
  const fits = ({ similarity, shared }: Scored) =>
    known ? similarity >= LEAST_SIMILARITY || (shared >= LEAST_SHARED && similarity >= SOME_SIMILARITY) : shared >= LEAST_SHARED_UNKNOWN
  const chosen = choose(scored.filter(fits))
  if (chosen.length === 0) return NOT_FOUND
  return chosen.map(({ text, passage }) => `“${text}” [${passage + 1}]`).join('\n')
}

/** The best sentence and those close to it, each said once, in the order they were found in. */
function choose(fitting: readonly Scored[]): Scored[] {
  const sorted = [...fitting].sort((a, b) => b.score - a.score)
  const best = sorted[0]
  if (!best) return []
  const chosen: Scored[] = []
  for (const sentence of sorted) {
    if (chosen.length === MOST_QUOTES || sentence.score < best.score - NEARLY) break
    if (!chosen.some((other) => share(contentWords(sentence.text), contentWords(other.text)) > 0.8)) chosen.push(sentence)
  }
  return chosen.sort((a, b) => a.passage - b.passage || a.position - b.position)
}

const COMMON = new Set(
  'a an and are as at be been but by can could did do does for from had has have how i if in into is it its many may me might much must my no not of on one or our shall should so than that the their them there these they this those to us was we were what when where which who whom whose why will with would you your'.split(
    ' ',
  ),
)

function contentWords(text: string): Set<string> {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
  const words = [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) => (isWordLike && !COMMON.has(segment) ? [stem(segment)] : []))
  return new Set(words)
}

/** Enough for "days" to meet "day"; the search itself has a real stemmer. */
const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word)

function share(wanted: Set<string>, present: Set<string>): number {
  if (wanted.size === 0) return 0
  let found = 0
  for (const word of wanted) if (present.has(word)) found++
  return found / wanted.size
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number)
  return sum
}
