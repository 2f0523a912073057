/** Finds names of settings, options and functions that a question writes in its own way. */
import { extractContentWords } from '../../../language/content-words.ts'

const NAME_BOUNDARY = /[-_.]+|(?<=[a-z\d])(?=[A-Z])/
const MIN_ABBREVIATION_LENGTH = 3
/** A question with more other words is about more than the name. */
const MIN_SHARE = 0.5
const MIN_WORDS = 2
const MAX_WORDS = 40

/**
 * Returns how many words of a question are in a name, also shortened or written apart, if the question is about it: "append only" is
 * `appendonly`, "slowlog length" is `slowlog-max-len`.
 */
export function createNameMatcher(question: string): (name: string) => number {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS)
  const least = MIN_SHARE * countContentWords(words)
  return (name) => {
    const parts = name
      .split(NAME_BOUNDARY)
      .filter(Boolean)
      .map((part) => part.toLowerCase())
    const isShortened = (part: string, word: string) => parts.length > 1 && part.length >= MIN_ABBREVIATION_LENGTH && word.startsWith(part)
    const covers = (part: string, index: number) => {
      const word = words[index] as string
      return part === word || isShortened(part, word) || part === `${words[index - 1]}${word}` || part === `${word}${words[index + 1]}`
    }
    const count = countContentWords(words.filter((_, index) => parts.some((part) => covers(part, index))))
    const isWhole = parts.every((part) => words.some((_, index) => covers(part, index)))
    return count >= MIN_WORDS && (count > least || (isWhole && count === least)) ? count : 0
  }
}

const countContentWords = (words: readonly string[]): number => new Set(extractContentWords(words.join(' '))).size
