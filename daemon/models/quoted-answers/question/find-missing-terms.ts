/** Finds what a question asks about that no passage mentions: names, numbers, and the case of a follow-up question. */
import { suggestWord } from '../../../../src/contract/suggest.ts'
import { extractContentWords, isEnglish, stem } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { containsIdentifier, findIdentifiers } from './find-identifiers.ts'

const SMALL_NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
/** A phrase that restricts a question to a case: "for part-timers", "as a contractor", "during a strike". */
const CASE = /\b(?:for|as|during|under|without)\s+(?:(?:an?|the|my|our|your)\s+)?((?:[\p{L}\p{N}-]+\s*){1,3})\W*$/iu
const MAX_WORDS = 20
/** A text may include them without their name: "Tuesday to Saturday", "until the end of March". */
const CALENDAR_NAME =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)s?$/
/** Most shorter names are similar to another word. */
const MIN_MISSPELT_LENGTH = 5

/**
 * The name of a person, place or thing, also in no similar spelling, or another term, such as a number, a misspelt name, or the case at the
 * end of the question.
 */
export type MissingTerm = 'name' | 'other'

/** Returns what kind of term no text contains. */
export function findMissingTerm(question: string, texts: readonly string[]): MissingTerm | undefined {
  const missing = listMissingIdentifiers(question, texts)
  if (includesName(missing, texts)) return 'name'
  const phrase = CASE.exec(question)?.[1]
  return missing.length > 0 || (phrase !== undefined && isMissingCase(phrase, texts)) ? 'other' : undefined
}

function includesName(missing: readonly string[], texts: readonly string[]): boolean {
  const names = missing.filter((name) => !/[\d_]/.test(name) && !CALENDAR_NAME.test(name))
  if (names.length === 0) return false
  const words = [...new Set(texts.flatMap(splitWords))]
  return names.some((name) => name.length < MIN_MISSPELT_LENGTH || suggestWord(name, words, 1) === undefined)
}

function listMissingIdentifiers(question: string, texts: readonly string[]): string[] {
  // In other languages, every noun may have a capital letter.
  const identifiers = findIdentifiers(question).filter((identifier) => /[\d_]/.test(identifier) || isEnglish(question))
  return identifiers.filter((identifier) => !texts.some((text) => mentionsIdentifier(text, identifier)))
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
const listWords = (text: string): string[] => splitWords(text).map(stem)

const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** "part-timers" is "part-time", but not "a part of the time". */
function containsSequence(words: readonly string[], stems: readonly string[]): boolean {
  return stems.length > 0 && words.some((_, index) => stems.every((stem, offset) => words[index + offset] === stem))
}
