/** Puts a question into the words of a passage. */
import { extractContentWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'

/** In a longer question, enough words are those of the passage. */
const MAX_WORDS = 30

/**
 * Returns a function that replaces words that a passage does not contain with synonyms that it contains ("How much holiday …"
 * with "leave"), because the reading model is small and trusts words more than meanings.
 */
export function createQuestionRewriter(question: string): (passageWords: ReadonlySet<string>) => string {
  const parts = question.split(/(\s+)/)
  if (parts.length > 2 * MAX_WORDS) return () => question
  const words = parts.map((part) => ({
    part,
    stems: extractContentWords(part),
    synonyms: expandQuery(part)
      .map((term) => ({ term, stems: extractContentWords(term) }))
      .filter(({ stems }) => stems.length > 0),
  }))
  return (passageWords) => {
    const isInPassage = ({ stems }: { stems: readonly string[] }) => stems.every((stem) => passageWords.has(stem))
    return words
      .map((word) => {
        const synonym = isInPassage(word) ? undefined : word.synonyms.find(isInPassage)
        return synonym ? word.part.replace(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/u, synonym.term) : word.part
      })
      .join('')
  }
}
