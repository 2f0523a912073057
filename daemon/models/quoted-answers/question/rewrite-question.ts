/** Puts a question into the words of a passage. */
import { extractContentWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { SYNONYM_GROUPS } from '../../../language/synonym-groups.ts'

/** In a longer question, enough words are those of the passage. */
const MAX_WORDS = 30
const listStems = (members: readonly string[]) => members.flatMap((member) => (member.includes(' ') ? [] : extractContentWords(member)))
const CLEAR_STEMS = new Set(listStems(SYNONYM_GROUPS.flatMap(({ terms }) => terms)))
/** Words that are not searched for because they have other meanings: "Who pays for it?" does not ask for a salary. */
const AMBIGUOUS_STEMS = new Set(listStems(SYNONYM_GROUPS.flatMap(({ members }) => members)).filter((stem) => !CLEAR_STEMS.has(stem)))

/**
 * Returns a function that replaces words that a passage does not contain with synonyms that it contains ("How much holiday …"
 * with "leave"), because the reading model is small and trusts words more than meanings. Words with other meanings stay.
 */
export function createQuestionRewriter(question: string): (passageWords: ReadonlySet<string>) => string {
  const parts = question.split(/(\s+)/)
  if (parts.length > 2 * MAX_WORDS) return () => question
  const words = parts.map((part) => {
    const stems = extractContentWords(part)
    const terms = stems.some((stem) => AMBIGUOUS_STEMS.has(stem)) ? [] : expandQuery(part)
    const synonyms = terms.map((term) => ({ term, stems: extractContentWords(term) })).filter((synonym) => synonym.stems.length > 0)
    return { part, stems, synonyms }
  })
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
