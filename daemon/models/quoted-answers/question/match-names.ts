/** Recognizes the names of settings, options and functions in questions that spell them differently. */
import { extractContentWords } from '../../../language/content-words.ts'

const NAME_BOUNDARY = /[-_.]+|(?<=[a-z\d])(?=[A-Z])/
const MIN_ABBREVIATION_LENGTH = 3
const MIN_WORDS = 2
/** Of the question's words that a name needs if it has no other words. */
const MIN_SHARE = 2 / 3
const MAX_WORDS = 40
/** Longer ones are no names, and reading them would take long. */
const MAX_NAME_LENGTH = 60
/** Words that say what is asked about a name. */
const GENERIC = new Set(extractContentWords('default defaults value set setting option parameter property flag field mean do does'))

/**
 * Returns how many words of a question are in a name, also shortened or written together: "slowlog length" is `slowlog-max-len`, and
 * "append only" is `appendonly`. 0 if the question is about something else: it needs all words of the name and few others, or
 * the name all words of the question.
 */
export function createNameMatcher(question: string): (name: string, minShare?: number) => number {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS)
  const stems = new Map(words.map((word) => [word, extractContentWords(word).filter((stem) => !GENERIC.has(stem))]))
  const countStems = (found: readonly string[]) => new Set(found.flatMap((word) => stems.get(word) ?? [])).size
  const specific = countStems(words)
  return (name, minShare = MIN_SHARE) => {
    if (name.length > MAX_NAME_LENGTH) return 0
    const parts = name.split(NAME_BOUNDARY).filter(Boolean)
    const found = parts.map((part) => findWords(part.toLowerCase(), words, parts.length > 1))
    const count = countStems(found.flat())
    const isWhole = found.every(({ length }) => length > 0)
    return count >= MIN_WORDS && (count === specific || (isWhole && count > minShare * specific)) ? count : 0
  }
}

/** Returns the words that a part of a name consists of, or that it shortens. */
function findWords(part: string, words: readonly string[], mayBeShort: boolean): string[] {
  const shortened = words.find((word) => word.startsWith(part))
  if (shortened !== undefined && (shortened === part || (mayBeShort && part.length >= MIN_ABBREVIATION_LENGTH))) return [shortened]
  // For each position, the words up to it.
  const found: (string[] | undefined)[] = [[]]
  for (let end = 1; end <= part.length; end++) {
    const last = words.find((word) => found[end - word.length] && part.endsWith(word, end))
    found[end] = last === undefined ? undefined : [...(found[end - last.length] as string[]), last]
  }
  return found[part.length] ?? []
}
