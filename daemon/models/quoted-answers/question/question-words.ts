/** Measures how many of a question's words a text contains. */
import { extractContentWords, removeForeignStopWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'

/** A synonym counts less than the word itself. */
const SYNONYM_SHARE = 0.6
/** Of a long question, the first words count. */
const MAX_QUESTION_WORDS = 100
interface QuestionWord {
  weight: number
  /** Other words for it, which may consist of several words. */
  synonyms: readonly (readonly string[])[]
}

export type QuestionWords = ReadonlyMap<string, QuestionWord>

/** Rare words of a question count more: a number or a name often decides between similar sentences. */
export function weightWords(question: string, sets: readonly ReadonlySet<string>[]): QuestionWords {
  const words: (readonly [string, QuestionWord['synonyms']])[] = []
  for (const word of removeForeignStopWords(question).split(/\s+/)) {
    if (words.length >= MAX_QUESTION_WORDS) break
    const synonyms = expandQuery(word).map(extractContentWords)
    words.push(...extractContentWords(word).map((stem) => [stem, synonyms] as const))
  }
  const synonymsByWord = new Map(words.slice(0, MAX_QUESTION_WORDS))
  const counts = new Map<string, number>()
  for (const set of sets) for (const word of set) if (synonymsByWord.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const computeWeight = (word: string) => Math.log(1 + (sets.length + 1) / ((counts.get(word) ?? 0) + 1))
  return new Map([...synonymsByWord].map(([word, synonyms]) => [word, { weight: computeWeight(word), synonyms }]))
}

/** Returns the weighted share of the question's words that a text with these words contains. */
export function computeOverlap(questionWords: QuestionWords, words: ReadonlySet<string>): number {
  let [found, total] = [0, 0]
  for (const [word, { weight, synonyms }] of questionWords) {
    total += weight
    if (words.has(word)) found += weight
    else if (synonyms.some((synonym) => synonym.every((other) => words.has(other)))) found += SYNONYM_SHARE * weight
  }
  return total === 0 ? 0 : found / total
}

/** Returns the words of the question that a text with these words contains. */
export const findCovered = (questionWords: QuestionWords, words: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...questionWords.keys()].filter((word) => words.has(word)))
