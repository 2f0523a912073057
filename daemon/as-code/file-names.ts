/** What the file of a resource is called, and the environment variables that hold its secrets: the same whenever it is asked. */
import { hash } from 'node:crypto'

const LONGEST = 80
/** Names that no file can have on Windows. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/

/** One word a name: letters and digits of any script, dashes between them. Names that would share a word, or are none, get a few characters of their hash. */
export function stemsOf(names: readonly string[]): Map<string, string> {
  const words = names.map(wordOf)
  const shared = repeated(words)
  return new Map(names.map((name, index) => [name, stem(name, words[index] as string, shared)]))
}

function stem(name: string, word: string, shared: ReadonlySet<string>): string {
  const unclear = word === '' || word.length === LONGEST || shared.has(word) || RESERVED.test(word)
  return unclear ? [word, short(name)].filter(Boolean).join('-') : word
}

const wordOf = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .slice(0, LONGEST)
    .replace(/\p{Surrogate}/gu, '')
    .replaceAll(/^-+|-+$/g, '')

/** Those that are there more than once. */
export function repeated(words: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(words.filter((word) => seen.has(word) || !seen.add(word)))
}

export const short = (text: string): string => hash('sha256', text, 'hex').slice(0, 6)

/** CADRE_MODEL_LLAMA_API_KEY: of the family's noun, the file's name and what it is. */
export function variableFor(noun: string, fileStem: string, what: string): string {
  const plain = /^[\x20-\x7e]*$/.test(fileStem) ? fileStem : `${fileStem}-${short(fileStem)}`
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
