/** Prepares messages and search queries for the full-text index, in any script. */
import { UNSPACED } from '../../language/tokenize.ts'

const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu
/**
 * Shorter words match whole words only: almost every message has a word that starts with a given letter. A Korean syllable
 * counts as its letters.
 */
const MIN_PREFIX_LENGTH = 3
const MAX_TERMS = 20
/** Of all terms together. What follows in a longer query is ignored: each word is compared with all of a message. */
const MAX_WORDS = 100

/** Words that must follow each other in a message. */
export interface SearchTerm {
  words: readonly string[]
  /** Whether the last word may continue. */
  isPrefix: boolean
}

/** Separates the characters of scripts without spaces: each is indexed as a word, so that any part of the text is found. */
export const prepareText = (text: string): string => text.normalize('NFKC').replaceAll(UNSPACED, (run) => ` ${[...run].join(' ')} `)

/** Reads words, and phrases in double quotes. Terms without a letter or digit are omitted. */
export function parseSearchQuery(query: string): SearchTerm[] {
  const terms = Array.from(query.matchAll(/"([^"]*)"?|[^\s"]+/g), ([text, phrase]) => createTerm(phrase ?? text, phrase !== undefined))
  return limitWords(terms.filter(({ words }) => words.length > 0).slice(0, MAX_TERMS))
}

function limitWords(terms: readonly SearchTerm[]): SearchTerm[] {
  let room = MAX_WORDS
  return terms.flatMap(({ words, isPrefix }) => {
    const kept = words.slice(0, room)
    room -= kept.length
    return kept.length === 0 ? [] : { words: kept, isPrefix: isPrefix && kept.length === words.length }
  })
}

function createTerm(text: string, isPhrase: boolean): SearchTerm {
  const words = prepareText(text).match(WORD) ?? []
  return { words, isPrefix: !isPhrase && (words.at(-1)?.normalize('NFD').length ?? 0) >= MIN_PREFIX_LENGTH }
}

/** The query in the syntax of FTS5: one message contains all terms. The words contain no quotes. */
export const formatMatch = (terms: readonly SearchTerm[]): string => terms.map(formatTerm).join(' AND ')

/** One message contains any of the terms. */
export const formatAnyMatch = (terms: readonly SearchTerm[]): string => terms.map(formatTerm).join(' OR ')

const formatTerm = ({ words, isPrefix }: SearchTerm): string => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`
