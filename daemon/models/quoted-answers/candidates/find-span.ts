/** Finds the words of a reading that an answer may be. */
import type { Reading } from '../../../inference/model-task.ts'
import type { Span } from '../parse-passage.ts'

/** Longer answers are lists or blocks of code, whose beginning is enough. */
const MAX_ANSWER_WORDS = 60
/** Logarithm of the share of the best span in the scores of all spans of a part. Above it, nine of ten spans are right. */
const CLEAR_SHARE = -2

/** Returns the index of the first word from a position on, before the one with this index. */
export function findWord({ words }: Reading, before: number, position: number): number {
  let index = before
  while (index > 0 && (words[2 * (index - 1)] as number) >= position) index--
  return index
}

/**
 * Returns the best span that begins with one of the words, and a score for any span there: several spans of a sentence are
 * often as good, and their sum says more about the sentence than the best of them.
 */
export function findSpan({ words, begins, ends }: Reading, from: number, to: number) {
  if (from === to) return undefined
  let best = { first: 0, last: 0, score: Number.NEGATIVE_INFINITY }
  for (let first = from; first < to; first++)
    for (let last = first; last < Math.min(begins.length, first + MAX_ANSWER_WORDS); last++) {
      const score = (begins[first] as number) + (ends[last] as number)
      if (score > best.score) best = { first, last, score }
    }
  const span: Span = { start: words[2 * best.first] as number, end: words[2 * best.last + 1] as number }
  const score = sumExponentials(begins.subarray(from, to)) + sumExponentials(ends.subarray(from, to))
  return { span, score: Math.max(score, best.score), isClear: best.last < to && best.score - score >= CLEAR_SHARE }
}

/** Returns the logarithm of the sum of exponentials. */
function sumExponentials(logits: Float32Array): number {
  const max = Math.max(...logits)
  return max + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - max), 0))
}
