/** Finds other words for those of a query, so that full-text search also finds passages with a different wording. */

import { SYNONYM_GROUPS, type SynonymGroup } from './synonym-groups.ts'
import { tokenize } from './tokenize.ts'

/** Longer queries contain enough words of their own. */
const MAX_QUERY_WORDS = 40
const MAX_TERMS = 40
const MAX_PHRASE_WORDS = 3
/** Shorter members are part of many unrelated words. */
const MIN_COMPOUND_PART = 5
const MIN_STEM = 4
/** Words that only German has. */
const GERMAN_WORDS = new Set(
  (
    'der das dem den ein eine einen einem einer wie viel viele wieviel wer wo wann warum welche welcher welches welchen ist sind wird ' +
    'werden kann konnen darf durfen muss mussen ich wir ihr mein meine unser unsere nicht und oder fur mit bei beim zum zur im auf von ' +
    'gibt es bekomme bekommen bekommt haben habe uns mich mir sich wenn nach uber sollte gilt gelten steht stehen oft kostet lange'
  ).split(' '),
)
const GERMAN_ENDINGS = ['ern', 'en', 'er', 'es', 'em', 'e', 'n', 's']
const GERMAN_FORMS = ['', 'e', 'en', 'er', 'es', 'n', 's']

const GROUPS = indexGroups()
/** The first words of all members, each with a space at the end. */
const PREFIXES = new Set(
  [...GROUPS.keys()].flatMap((member) => member.split(' ').map((_, index, words) => `${words.slice(0, index + 1).join(' ')} `)),
)
const COMPOUND_PARTS = [...GROUPS.keys()].filter((member) => member.length >= MIN_COMPOUND_PART && !member.includes(' '))

/** Returns terms that the query does not contain. A term of several words must match completely. */
export function expandQuery(query: string): string[] {
  const words = tokenize(query).split(' ')
  if (words.length > MAX_QUERY_WORDS) return []
  const isGerman = words.some((word) => GERMAN_WORDS.has(word))
  const forms = words.map((word) => [...new Set([word, ...listBaseForms(word, isGerman)])])
  const terms = new Set<string>()
  for (const group of findGroups(forms, isGerman)) for (const term of group.terms) terms.add(term)
  if (isGerman) for (const word of words) for (const form of inflect(word)) terms.add(form)
  const known = new Set(words)
  return [...terms].filter((term) => !term.split(' ').every((word) => known.has(word))).slice(0, MAX_TERMS)
}

function indexGroups(): Map<string, SynonymGroup[]> {
  const groups = new Map<string, SynonymGroup[]>()
  for (const group of SYNONYM_GROUPS) for (const member of group.members) groups.set(member, [...(groups.get(member) ?? []), group])
  return groups
}

/** Finds the groups of the words of a query; a phrase takes precedence over its words. */
function findGroups(forms: readonly string[][], isGerman: boolean): SynonymGroup[] {
  const found: SynonymGroup[] = []
  for (let start = 0; start < forms.length; ) {
    let length = Math.min(MAX_PHRASE_WORDS, forms.length - start)
    let groups: SynonymGroup[] = []
    for (; length > 0 && groups.length === 0; length--) groups = findPhrase(forms.slice(start, start + length))
    if (groups.length === 0 && isGerman) groups = findCompoundGroups(forms[start]?.[0] ?? '')
    found.push(...groups)
    start += length + 1
  }
  return found
}

function findPhrase(forms: readonly string[][]): SynonymGroup[] {
  const isPrefix = (phrase: string) => PREFIXES.has(phrase)
  let phrases = ['']
  for (const words of forms) phrases = phrases.flatMap((phrase) => words.map((word) => `${phrase}${word} `).filter(isPrefix))
  return phrases.flatMap((phrase) => GROUPS.get(phrase.trimEnd()) ?? [])
}

/** German joins words: "Urlaubsregelung" is about "Urlaub". */
function findCompoundGroups(word: string): SynonymGroup[] {
  if (GERMAN_WORDS.has(word)) return []
  const part = COMPOUND_PARTS.find(
    (member) => word.length >= member.length + MIN_STEM && (word.startsWith(member) || word.endsWith(member)),
  )
  return part === undefined ? [] : [{ members: [], terms: [part] }, ...(GROUPS.get(part) ?? [])]
}

/** Returns possible base forms; those that are no words do no harm, because no group contains them. */
function listBaseForms(word: string, isGerman: boolean): string[] {
  const forms: string[] = []
  const add = (ending: string, ...replacements: string[]) => {
    if (word.endsWith(ending) && word.length - ending.length >= 3)
      for (const replacement of replacements) forms.push(word.slice(0, -ending.length) + replacement)
  }
  add('s', '')
  add('es', '')
  add('ies', 'y')
  add('ed', '', 'e')
  add('ing', '', 'e')
  const [, doubled] = /^(.+(.))\2(?:ed|ing)$/.exec(word) ?? []
  if (doubled !== undefined) forms.push(doubled)
  if (isGerman) for (const ending of [...GERMAN_ENDINGS, 't']) add(ending, '', 'e', 'en')
  return forms
}

/** Returns other forms of a German word. The index itself only reduces English words to their stems. */
function inflect(word: string): string[] {
  if (GERMAN_WORDS.has(word) || !/^[a-zß]+$/.test(word)) return []
  const ending = GERMAN_ENDINGS.find((suffix) => word.endsWith(suffix) && word.length - suffix.length >= MIN_STEM) ?? ''
  const stem = word.slice(0, word.length - ending.length)
  if (stem.length < MIN_STEM) return []
  return GERMAN_FORMS.map((form) => stem + form)
}
