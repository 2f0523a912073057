/** Scores an answer by its text: equality, inclusion and token F1. */
import { segmentText } from '../../src/segment-text.ts'

/** Compares the texts; differences in white space are ignored. */
export const scoreExact = (expected: string, actual: string): number => Number(normalizeSpace(expected) === normalizeSpace(actual))

/** Ignores case and white space. */
export const scoreContains = (expected: string, actual: string): number =>
  Number(normalizeSpace(actual).toLowerCase().includes(normalizeSpace(expected).toLowerCase()))

/** The rows below an answer that was computed from a table: `Rows used, of orders.csv:` and a Markdown table. */
const ROWS_USED = /(?:^|\n)(?:Rows used|The first \d+ of \d+ rows used), of [^\n]+:\n\n(?:\|[^\n]*(?:\n|$))+/g

/** Removes the rows that an answer was computed from: they are its evidence and contain values that are not the answer. */
export const removeRowsUsed = (answer: string): string => answer.replaceAll(ROWS_USED, '\n')

/** Removes citation numbers, which are not part of the answer, unless the expected text has some. */
export const removeReferences = (answer: string, expected: string): string =>
  /\[\d+\]/.test(expected) ? answer : answer.replaceAll(/\s?\[\d+\]/g, '')

/** The harmonic mean of the precision and recall of words. */
export function scoreTokenF1(expected: string, actual: string): number {
  const expectedWords = listWords(expected)
  const actualWords = listWords(actual)
  if (expectedWords.length === 0 && actualWords.length === 0) return Number(joinSymbols(expected) === joinSymbols(actual))
  const remaining = new Map<string, number>()
  for (const word of expectedWords) remaining.set(word, (remaining.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of actualWords) {
    const count = remaining.get(word) ?? 0
    if (count === 0) continue
    remaining.set(word, count - 1)
    shared++
  }
  return (2 * shared) / (expectedWords.length + actualWords.length)
}

const normalizeSpace = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** Omits articles, as is usual for this score. */
function listWords(text: string): string[] {
  const words: string[] = []
  for (const { segment, isWordLike } of segmentWords(text)) if (isWordLike && !ARTICLES.has(segment)) words.push(segment)
  return words
}

/** For texts without words, such as emoji. */
function joinSymbols(text: string): string {
  let symbols = ''
  for (const { segment, isWordLike } of segmentWords(text)) if (!isWordLike) symbols += segment.trim()
  return symbols
}

/** Intl.Segmenter also finds words in languages without spaces, such as Chinese and Thai. */
const segmentWords = (text: string) =>
  segmentText(new Intl.Segmenter(undefined, { granularity: 'word' }), text.normalize('NFKC').toLowerCase())

const ARTICLES = new Set(['a', 'an', 'the'])
