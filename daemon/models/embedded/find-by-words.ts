/** Finds the sentence that shares most words with a question, for languages that the reading model does not know. */
import { containsWord, extractContentWords, joinSingleCharacters } from '../../language/content-words.ts'
import { parseBlocks, parseParts } from './parse-passage.ts'
import type { QuotableAnswer } from './select-answer.ts'

/** Mean of the shares of the question's words in the sentence and in its passage. Measured on Chinese paragraphs. */
const MIN_OVERLAP = 0.4
/** For each passage that the search ranked higher. */
const RANK_PENALTY = 0.01

export function findByWords(
  question: string,
  passages: readonly { content: string; headings?: readonly string[] }[],
): QuotableAnswer | undefined {
  const words = [...new Set(joinSingleCharacters(extractContentWords(question)))]
  const candidates = passages.flatMap(({ content, headings = [] }, passage) => {
    const blocks = parseBlocks(content)
    const passageText = createText([...headings, content].join('\n'))
    return parseParts(content, blocks)
      .filter(({ block }) => block.kind !== 'heading' && block.kind !== 'code')
      .map((part) => ({ passage, part, blocks, passageText, text: createText(content.slice(part.start, part.end)) }))
  })
  const weights = new Map(words.map((word) => [word, computeWeight(word, candidates)]))
  let best: (QuotableAnswer & { score: number }) | undefined
  for (const { passage, part, blocks, text, passageText } of candidates) {
    const overlap = (computeOverlap(weights, text) + computeOverlap(weights, passageText)) / 2
    const score = overlap - RANK_PENALTY * passage
    if (overlap < MIN_OVERLAP || (best && best.score >= score)) continue
    best = { passage, part, blocks, span: part, heading: undefined, lastBlock: part.blockIndex, score }
  }
  return best
}

interface Text {
  text: string
  words: ReadonlySet<string>
}

const createText = (text: string): Text => ({ text, words: new Set(extractContentWords(text)) })

/** Rare words count more. */
function computeWeight(word: string, candidates: readonly { text: Text }[]): number {
  const count = candidates.filter(({ text }) => containsWord(text.text, text.words, word)).length
  return Math.log(1 + (candidates.length + 1) / (count + 1))
}

/** Returns the weighted share of the words that the text contains. */
function computeOverlap(weights: ReadonlyMap<string, number>, { text, words }: Text): number {
  let [found, total] = [0, 0]
  for (const [word, weight] of weights) {
    total += weight
    if (containsWord(text, words, word)) found += weight
  }
  return total === 0 ? 0 : found / total
}
