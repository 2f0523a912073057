/** Puts a question into the words of a passage. */

import { extractContentWords } from '../../language/content-words.ts'
import { expandQuery } from '../../language/expand-query.ts'

/** In a longer question, enough words are those of the passage. */
const MAX_WORDS = 30

/**
 * Replaces words that the passage does not contain with synonyms that it contains ("How much holiday …" with "leave"), because
 * the reading model is small and trusts words more than meanings.
 */
export function rewriteQuestion(question: string, passageText: string): string {
  const words = question.split(/(\s+)/)
  if (words.length > 2 * MAX_WORDS) return question
  const passageWords = new Set(extractContentWords(passageText))
  const contains = (text: string) => extractContentWords(text).every((word) => passageWords.has(word))
  return words
    .map((word) => {
      if (contains(word)) return word
      const synonym = expandQuery(word).find((term) => extractContentWords(term).length > 0 && contains(term))
      return synonym === undefined ? word : word.replace(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/u, synonym)
    })
    .join('')
}
