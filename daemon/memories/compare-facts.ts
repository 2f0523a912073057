/** Decides whether a fact is known, or replaces a known one. */
import { tokenize } from '../language/tokenize.ts'

/** What comes before the value of a fact that has one value at a time, if the words before say what it is about. */
const IS = new Set(['is', 'are', 'was', 'were', 'equals', 'ist', 'sind', 'war', 'lautet', 'heißt', 'est', 'es'])
/** What comes before such a value, whatever the words before. */
const HAS_ONE_VALUE = /(?:^| )(?:lives? in|lives? at|works? (?:at|for|as)|born (?:in|on)|named|called|wohnt in|arbeitet (?:bei|als))$/
/** Words that say whom a fact is about, but not what. */
const SUBJECTS = new Set('the user users s i my he she they his her their a an der die das nutzer'.split(' '))

/** The words of a fact, without case and punctuation. */
export const normalizeFact = (content: string): string => tokenize(content)

/**
 * Whether the new fact says something else about the same thing: only one part of the text differs, and it is the value of
 * something that has one at a time. "The user's favorite color is blue" contradicts "… is red", but "The user likes tea" does
 * not contradict "The user likes coffee".
 */
export function contradicts(newFact: string, knownFact: string): boolean {
  const [one, other] = [newFact.split(' '), knownFact.split(' ')]
  let start = 0
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start++
  const before = one.slice(0, start)
  if (start === one.length || start === other.length) return false
  if (HAS_ONE_VALUE.test(before.join(' '))) return true
  const verb = before.findLastIndex((word) => IS.has(word))
  // Nothing but an article may stand between the verb and the value.
  if (verb < 0 || before.slice(verb + 1).some((word) => !SUBJECTS.has(word))) return false
  return before.slice(0, verb).some((word) => !SUBJECTS.has(word))
}
