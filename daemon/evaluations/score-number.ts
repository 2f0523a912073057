/** Scores an answer by its number. */
import { parseNumber } from '../tables/cells/parse-cell.ts'
import type { Score } from './score-json.ts'

const NUMBER = /(?:[$€£¥]\s?)?[+\-−]?\d[\d,.'’]*(?:\s?(?:million|billion|thousand)\b)?/gu

/** Throws if the text has no number. */
export function checkNumber(expected: string): void {
  if (findNumber(expected) === undefined) throw new Error('no number')
}

/** Compares the first number in bold, or the first one outside of citations. The tolerance is the largest allowed difference. */
export function scoreNumber(expected: string, answer: string, tolerance = 0): Score {
  const wanted = findNumber(expected)
  const found = findNumber(/\*\*(.+?)\*\*/.exec(answer)?.[1] ?? '') ?? findNumber(answer.replaceAll(/\[\d+\]/g, ' '))
  if (wanted === undefined || found === undefined) return { score: 0, reason: 'The answer has no number.' }
  // Doubles differ in the last digits: 0.3 is not 0.1 + 0.2.
  const isClose = Math.abs(wanted - found) <= tolerance + Math.abs(wanted) * 1e-12
  return isClose ? { score: 1 } : { score: 0, reason: `The answer has ${found} instead of ${wanted}.` }
}

function findNumber(text: string): number | undefined {
  for (const [match] of text.matchAll(NUMBER)) {
    const number = parseNumber(match.replace(/[.,'’]+$/, ''))
    if (number) return number.value
  }
  return undefined
}
