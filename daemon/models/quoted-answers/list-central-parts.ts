/** Lists the passages that matter for a summary or a comparison, each with its central sentence. */
import { extractContentWords } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotedPart } from './format-refusal.ts'
import { type Part, parseBlocks, parseParts } from './parse-passage.ts'
import { computeOverlap, type QuestionWords, weightWords } from './question/question-words.ts'

/** Shorter names are letters and numbers that a question contains by chance. */
const MIN_NAME_LENGTH = 3
/** Shorter sentences are labels. */
const MIN_WORDS = 4
/** A word of the question counts as much as this many sentences that share a word. */
const QUESTION_WEIGHT = 3
/** Words that are added to the length of a sentence, so that short ones do not win. */
const LENGTH_OFFSET = 6

interface Sentence {
  part: Part
  words: ReadonlySet<string>
}

/** Best passages first: those of documents that the question names, in turns, or else those with most of its words. */
export function listCentralParts(question: string, passages: readonly ContextPassage[]): QuotedPart[] {
  const asked = new Set(extractContentWords(question))
  const sets = passages.map(({ content, headings = [] }) => new Set(extractContentWords([...headings, content].join('\n'))))
  const questionWords = weightWords(question, sets)
  const named = passages.filter((passage) => isNamed(passage, asked))
  const candidates = passages.flatMap((passage, index) => {
    if (named.length > 0 && !named.includes(passage)) return []
    const part = findCentralPart(passage, questionWords)
    return part
      ? [{ passage: index, part, source: passage.source, overlap: computeOverlap(questionWords, sets[index] as Set<string>) }]
      : []
  })
  const similar = candidates.filter(({ overlap }) => overlap > 0)
  // A comparison needs two, and its words may be in one passage only.
  const related = named.length === 0 && similar.length > 1 ? similar : candidates
  const ranked = [...related].sort((a, b) => b.overlap - a.overlap || a.passage - b.passage)
  if (named.length === 0) return ranked
  const getTurn = (candidate: (typeof ranked)[number]) => ranked.filter(({ source }) => source === candidate.source).indexOf(candidate)
  return [...ranked].sort((a, b) => getTurn(a) - getTurn(b))
}

/** Whether the question contains all words of the document's name or title. */
function isNamed({ source, headings = [] }: ContextPassage, asked: ReadonlySet<string>): boolean {
  const name = source.replace(/^.*\//, '').replace(/\.[^.]*$/, '')
  return [name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|[\W_]+/gu, ' '), headings[0] ?? ''].some((title) => {
    const words = extractContentWords(title)
    return words.join('').length >= MIN_NAME_LENGTH && words.every((word) => asked.has(word))
  })
}

/** Returns the sentence that shares most words with the question and with the other sentences of the passage. */
function findCentralPart({ content, source }: ContextPassage, questionWords: QuestionWords): Part | undefined {
  const sentences: Sentence[] = parseParts(content, parseBlocks(content, source))
    .filter(({ block }) => block.kind !== 'heading' && block.kind !== 'code')
    .map((part) => ({ part, words: new Set(extractContentWords(content.slice(part.start, part.end))) }))
  const counts = new Map<string, number>()
  for (const { words } of sentences) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const rate = ({ words }: Sentence) => {
    const shared = [...words].reduce((sum, word) => sum + (counts.get(word) as number) - 1, 0)
    return shared / (words.size + LENGTH_OFFSET) + QUESTION_WEIGHT * computeOverlap(questionWords, words)
  }
  // Fields above a text are metadata, such as front matter.
  const prose = sentences.filter(({ part: { block } }) => block.kind === 'text' || block.kind === 'item')
  const own = prose.length > 0 ? prose : sentences
  const full = own.filter(({ words }) => words.size >= MIN_WORDS)
  const rated = (full.length > 0 ? full : own).map((sentence) => ({ sentence, rating: rate(sentence) }))
  return rated.reduce<(typeof rated)[number] | undefined>((best, each) => (best && best.rating >= each.rating ? best : each), undefined)
    ?.sentence.part
}
