/** What the file of a resource is called, and the environment variables that hold its secrets: the same whenever it is asked. */
import { hash } from 'node:crypto'

const MAX_STEM_LENGTH = 80
/** Names that no file can have on Windows. */
const RESERVED_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)$/

/** One word a name: letters and digits of any script, dashes between them. Names that would share a word, or are none, get a few characters of their hash. */
export function createStems(names: readonly string[]): Map<string, string> {
  const words = names.map(toSlug)
  const shared = findDuplicates(words)
  return new Map(names.map((name, index) => [name, createStem(name, words[index] as string, shared)]))
}

function createStem(name: string, word: string, shared: ReadonlySet<string>): string {
  const unclear = word === '' || word.length === MAX_STEM_LENGTH || shared.has(word) || RESERVED_NAMES.test(word)
  return unclear ? [word, shortHash(name)].filter(Boolean).join('-') : word
}

const toSlug = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .slice(0, MAX_STEM_LENGTH)
    .replace(/\p{Surrogate}/gu, '')
    .replaceAll(/^-+|-+$/g, '')

/** Those that are there more than once. */
export function findDuplicates(words: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(words.filter((word) => seen.has(word) || !seen.add(word)))
}

export const shortHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 6)

/** CADRE_MODEL_LLAMA_API_KEY: of the family's noun, the file's name and what it is. */
export function createVariableName(noun: string, fileStem: string, what: string): string {
  const plain = /^[\x20-\x7e]*$/.test(fileStem) ? fileStem : `${fileStem}-${shortHash(fileStem)}`
  return ['cadre', noun, plain, what]
    .map((part) =>
      part
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, '_')
        .replaceAll(/^_+|_+$/g, ''),
    )
    .filter(Boolean)
    .join('_')
}
