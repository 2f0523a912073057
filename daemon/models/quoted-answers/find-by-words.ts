/** Finds the sentence that shares most words with a question, for languages that the reading model does not know. */
import { containsWord, extractContentWords, joinSingleCharacters } from '../../language/content-words.ts'
import type { QuotableAnswer } from './candidates/list-candidates.ts'
import { parseBlocks, parseParts } from './parse-passage.ts'

/** Mean of the shares of the question's words in the sentence and in its passage. Measured on Chinese paragraphs. */
const MIN_OVERLAP = 0.4
/** For each passage that the search ranked higher. */
const RANK_PENALTY = 0.01
/** Of a long question, the first words count. */
const MAX_QUESTION_WORDS = 40

export function findByWords(
  question: string,
  passages: readonly { content: string; source: string; headings?: readonly string[] }[],
): QuotableAnswer | undefined {
  const words = [...new Set(joinSingleCharacters(extractContentWords(question)))].slice(0, MAX_QUESTION_WORDS)
  const candidates = passages.flatMap(({ content, source }, passage) => {
    const blocks = parseBlocks(content, source)
    return parseParts(content, blocks)
      .filter(({ block }) => block.kind !== 'heading' && block.kind !== 'code')
      .map((part) => ({ passage, part, blocks, found: findWords(words, content.slice(part.start, part.end)) }))
  })
  const shares = computeShares(words, candidates)
  const computeOverlap = (found: readonly string[]) => found.reduce((sum, word) => sum + (shares.get(word) ?? 0), 0)
  const overlaps = passages.map(({ content, headings = [] }) => computeOverlap(findWords(words, [...headings, content].join('\n'))))
  let best: (QuotableAnswer & { score: number }) | undefined
  for (const { passage, part, blocks, found } of candidates) {
    const overlap = (computeOverlap(found) + (overlaps[passage] as number)) / 2
    const score = overlap - RANK_PENALTY * passage
    if (overlap < MIN_OVERLAP || (best && best.score >= score)) continue
    best = { passage, part, blocks, span: part, heading: undefined, isClear: true, lastBlock: part.blockIndex, score }
  }
  return best
}

/** Returns the words that the text contains. */
function findWords(words: readonly string[], text: string): string[] {
  const textWords = new Set(extractContentWords(text))
  return words.filter((word) => containsWord(text, textWords, word))
}

/** Returns the share of each word in all words. Rare words count more. */
function computeShares(words: readonly string[], candidates: readonly { found: readonly string[] }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { found } of candidates) for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weights = words.map((word) => Math.log(1 + (candidates.length + 1) / ((counts.get(word) ?? 0) + 1)))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return new Map(words.map((word, index) => [word, (weights[index] as number) / total]))
}
