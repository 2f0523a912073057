/** Finds comparisons and ordinals in the words of a question: "more than", "or later", "third". */

import { COMPARISONS, type Comparison, ORDINAL_WORDS } from '../vocabulary.ts'
import type { Span, Word } from './mentions.ts'

/** Finds a comparison before or after the words from `start` to `end`. An article or currency may stand between. */
export function findComparison(words: readonly Word[], start: number, end: number): (Span & { comparison: Comparison }) | undefined {
  for (const [phrase, comparison] of COMPARISONS) {
    const parts = phrase.split(' ')
    if (parts[0] === '…') {
      const after = parts.slice(1)
      for (const gap of [0, 1])
        if (after.every((part, offset) => words[end + gap + offset]?.text === part))
          return { start, end: end + gap + after.length, comparison }
    } else
      for (const gap of [0, 1, 2]) {
        const from = start - gap - parts.length
        const isGap = words.slice(from + parts.length, start).every((word) => word.isStop || word.text.length <= 3 || word.text === 'year')
        if (from >= 0 && isGap && parts.every((part, offset) => words[from + offset]?.text === part))
          return { start: from, end, comparison }
      }
  }
  return undefined
}

/** Returns the nth that an ordinal such as "third" or "3rd" stands for. */
export function readOrdinal(text: string): number | undefined {
  const digits = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(text)?.[1]
  return digits === undefined ? ORDINAL_WORDS[text] : Number(digits)
}
