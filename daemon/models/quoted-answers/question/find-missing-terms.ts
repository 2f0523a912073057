/** Finds what a question asks about that no passage mentions: names, numbers, and the case of a follow-up question. */
import { extractContentWords, isEnglish, stem } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { containsIdentifier, findIdentifiers } from './find-identifiers.ts'

const SMALL_NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
/** A phrase that restricts a question to a case: "for part-timers", "as a contractor", "during a strike". */
const CASE = /\b(?:for|as|during|under|without)\s+(?:(?:an?|the|my|our|your)\s+)?((?:[\p{L}\p{N}-]+\s*){1,3})\W*$/iu
const MAX_WORDS = 20

/** Whether the question has a name, number, year or place that no text contains, or ends with a case that none mentions. */
export function hasMissingTerm(question: string, texts: readonly string[]): boolean {
  // In other languages, every noun may have a capital letter.
  const identifiers = findIdentifiers(question).filter((identifier) => /[\d_]/.test(identifier) || isEnglish(question))
  const phrase = CASE.exec(question)?.[1]
  return (
    identifiers.some((identifier) => !texts.some((text) => mentionsIdentifier(text, identifier))) ||
    (phrase !== undefined && isMissingCase(phrase, texts))
  )
}

/** Whether no text mentions any of the words that a follow-up question adds, such as "And for part-timers?". */
export function isMissingCase(followUp: string, texts: readonly string[]): boolean {
  const terms = followUp
    .split(/\s+/)
    .slice(0, MAX_WORDS)
    .flatMap((word) => {
      const stems = extractContentWords(word)
      return stems.length === 0 ? [] : [[stems, ...expandQuery(word).map(extractContentWords)].filter((each) => each.length > 0)]
    })
  const words = texts.map(listWords)
  const isMentioned = (forms: readonly (readonly string[])[]) => forms.some((stems) => words.some((text) => containsSequence(text, stems)))
  return terms.length > 0 && !terms.some(isMentioned)
}

function mentionsIdentifier(text: string, identifier: string): boolean {
  const word = /^\d+$/.test(identifier) ? SMALL_NUMBERS[Number(identifier)] : undefined
  if (containsIdentifier(text, identifier) || (word !== undefined && containsIdentifier(text, word))) return true
  return !/\d/.test(identifier) && containsSequence(listWords(text), extractContentWords(identifier))
}

/** Returns all words, stemmed. */
const listWords = (text: string): string[] => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem)

/** "part-timers" is "part-time", but not "a part of the time". */
function containsSequence(words: readonly string[], stems: readonly string[]): boolean {
  return words.some((_, index) => stems.every((stem, offset) => words[index + offset] === stem))
}
